import { isApproved, type Halt } from '../../domain/guard.ts';
import { enterSource, type EnteredSource } from '../sources/enter-source.ts';
import { placeOfSource } from '../sources/root-check.ts';
import type { FoundSource, Source } from '../sources/source.ts';
import { Rereading } from '../plan/rereading.ts';
import { inTurns } from '../plan/turns.ts';
import type { PassContext, SyncContext } from './sync-context.ts';
import { sendInterrupted } from './interrupted.ts';
import { walk, type SentFirst } from './walk.ts';
import { groupMeeting, mayShareKey } from '../../domain/unit.ts';

const NOTHING_SENT: ReadonlyMap<string, SentFirst> = new Map();

/** The result of the walk over a source. Removals need a complete walk: what was not seen may still be there. */
export type SourceWalk =
  | { readonly kind: 'halted'; readonly halt: Halt }
  /** `approved`: the approved causes of a halt. */
  | { readonly kind: 'complete' | 'incomplete'; readonly approved: readonly Halt[] };

export interface Visited {
  readonly found: FoundSource;
  readonly walk: SourceWalk;
  /** Files on record before the first send: the base for fractions of removals. */
  readonly recorded: number;
}

/**
 * Walks all sources. Sources that cannot produce the same key are walked concurrently, so that a large one does not
 * hold up the others. Sends that an earlier run left unfinished come first. Sends may still run when it returns.
 *
 * @param groups - of the found sources: those in one group may produce the same key.
 * @param isFirst - it is the first pass since botsync started.
 */
export async function visitSources(
  found: readonly FoundSource[],
  groups: readonly FoundSource[][],
  isFirst: boolean,
  context: PassContext,
): Promise<Visited[]> {
  const hasLeftOver = isFirst && found.some((one) => hasInterrupted(one, context));
  const entered =
    context.isWatched || hasLeftOver
      ? await admitRescans(groups, context)
      : new Map<FoundSource, EnteredSource>();
  const sentFirst = hasLeftOver ? await sendAllInterrupted(found, context) : NOTHING_SENT;
  const visited = new Map<FoundSource, Visited>();
  const ends = await Promise.allSettled(
    groups.map(async (group) => {
      for (const one of group) {
        if (context.stop.aborted) break;
        visited.set(one, await visit(one, { entered, sentFirst }, context));
      }
    }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return found.flatMap((one) => visited.get(one) ?? []);
}

/** Sources whose walk begins with this result. */
type Entered = ReadonlyMap<FoundSource, EnteredSource>;

/**
 * Enters all sources, so that their paths may be rescanned even before the walk reaches them. The first of each group
 * need not be entered again for its walk; the walks of the others check their directories again.
 */
async function admitRescans(groups: readonly FoundSource[][], context: PassContext): Promise<Entered> {
  const { walkStates, approved } = context;
  const firsts = new Map<FoundSource, EnteredSource>();
  for (const group of groups) {
    for (const found of group) {
      const { name } = found.config;
      const entered = found.kind === 'found' ? await enter(found.source, context, approved) : null;
      if (entered?.kind !== 'open') walkStates.set(name, 'halted');
      else if (walkStates.get(name) !== 'complete') walkStates.set(name, 'incomplete');
      if (entered !== null && found === group[0]) firsts.set(found, entered);
    }
  }
  return firsts;
}

export async function enter(
  source: Source,
  { state, config, clock }: SyncContext,
  approved: PassContext['approved'],
): Promise<EnteredSource> {
  const { name, directory } = source.config;
  const target = state.targetId(source.syncTarget);
  const isAllowed = (halt: Halt): boolean => isApproved(halt, approved(name));
  const entered = await inTurns(enterSource(source, target, state, config.removals.mode, isAllowed), clock);
  // Without it, a directory that lost files since an interrupted first pass would count as another one.
  if (entered.kind === 'open' && state.source(name) === null)
    state.saveSource(name, { directory, identity: source.identity, halt: null });
  return entered;
}

interface Before {
  readonly entered: Entered;
  /** By source. */
  readonly sentFirst: ReadonlyMap<string, SentFirst>;
}

/** Returns whether an earlier run left sends of a source unfinished. */
function hasInterrupted(found: FoundSource, { state }: SyncContext): boolean {
  if (found.kind === 'missing') return false;
  const { config, syncTarget } = found.source;
  return state.interrupted(state.targetId(syncTarget), config.name, '').length > 0;
}

/**
 * Sends what an earlier run left unfinished, before everything else: until then, the platform may have nothing of these
 * files. Returns the files by source.
 */
async function sendAllInterrupted(
  found: readonly FoundSource[],
  context: PassContext,
): Promise<ReadonlyMap<string, SentFirst>> {
  const sent = new Map<string, SentFirst>();
  const before: Source[] = [];
  for (const one of found) {
    if (one.kind === 'missing') continue;
    if (context.walkStates.get(one.config.name) !== 'halted')
      sent.set(one.config.name, await sendInterrupted(one.source, [...before], context));
    before.push(one.source);
  }
  return sent;
}

/** Checks a source's directory and walks it. Sends may still run when it returns. */
async function visit(
  found: FoundSource,
  { entered: enteredBefore, sentFirst }: Before,
  context: PassContext,
): Promise<Visited> {
  if (found.kind === 'missing') return { found, walk: { kind: 'halted', halt: found.halt }, recorded: 0 };
  const { source } = found;
  const recorded = recordedIn(source, context);
  const entered = enteredBefore.get(found) ?? (await enter(source, context, context.approved));
  if (entered.kind === 'halted') {
    if (entered.halt.kind === 'missing') lookAgain(source, context);
    return { found, walk: entered, recorded };
  }
  // Recorded before files are sent there, so that no second approval of the place is needed.
  context.state.savePlace(source.config.name, placeOfSource(source));
  const target = context.state.targetId(source.syncTarget);
  const records = context.state.records(target, source.config.name);
  const rereading = new Rereading(context.state, target, source.config.name, context.clock.now());
  const all = { source, target, entries: entered.entries, records, isInDoubt: rereading.isTurnOf };
  const sent = sentFirst.get(source.config.name);
  const ended = await walk(sent === undefined ? all : { ...all, sentFirst: sent }, context);
  if (ended !== 'lost' && !context.stop.aborted) rereading.save(context.state);
  if (ended !== 'lost') return { found, walk: { kind: ended, approved: entered.approved }, recorded };
  lookAgain(source, context);
  const halt: Halt = { kind: 'missing', directory: source.root, fault: { kind: 'lost-during-scan' } };
  return { found, walk: { kind: 'halted', halt }, recorded };
}

/**
 * Has a directory looked at again that existed a moment ago: it may have been away for less time than watches need to notice. Once,
 * not after each pass that halts it.
 */
function lookAgain({ config: { name } }: Source, { state, changeFeed }: PassContext): void {
  if (state.source(name)?.halt?.kind !== 'missing') changeFeed.lookAgain(name);
}

/** Returns the number of recorded files of a source, including those to be removed. */
export function recordedIn(source: Source, { state }: SyncContext): number {
  const target = state.targetId(source.syncTarget);
  const { present, removed } = state.countRecorded(target, source.config.name);
  return present + removed;
}

/**
 * Groups sources that may produce the same key, in the order of the config. Sources of one group must be walked one
 * after the other, because of two files with the same key the first keeps it.
 */
export function keyGroups(found: readonly FoundSource[]): FoundSource[][] {
  return groupMeeting(found, mayMeet);
}

function mayMeet(one: FoundSource, other: FoundSource): boolean {
  if (one.kind === 'missing' || other.kind === 'missing') return false;
  return mayShareKey(keyed(one.config.keyPrefix, one.source), keyed(other.config.keyPrefix, other.source));
}

function keyed(
  keyPrefix: string,
  { syncTarget: { baseUrl, botId, identity } }: Source,
): { keyPrefix: string; targetName: string } {
  return { keyPrefix, targetName: JSON.stringify([baseUrl, botId, identity]) };
}
