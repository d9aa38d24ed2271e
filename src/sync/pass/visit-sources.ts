import { isApproved, type Halt } from '../../domain/guard.ts';
import { enterSource, type EnteredSource } from '../sources/enter-source.ts';
import { placeOfSource } from '../sources/place.ts';
import type { FoundSource, Source } from '../sources/source.ts';
import { Rereading } from '../plan/rereading.ts';
import { inTurns } from '../plan/turns.ts';
import type { PassContext, SyncContext } from './sync-context.ts';
import { sendInterrupted, type SentFirst } from './interrupted.ts';
import { walk } from './walk.ts';

const NOTHING_SENT: ReadonlyMap<string, SentFirst> = new Map();

/** How the walk over a source ended. Removals need a complete one: what was not seen may still be there. */
export type SourceWalk =
  | { readonly kind: 'halted'; readonly halt: Halt }
  /** `approved`: what would have halted it, had nobody checked it. */
  | { readonly kind: 'complete' | 'incomplete'; readonly approved: readonly Halt[] };

/** A source that the pass came to. */
export interface Visited {
  readonly found: FoundSource;
  readonly walk: SourceWalk;
  /** Files on record before anything was sent: what a fraction of removals is taken of. */
  readonly recorded: number;
}

/**
 * Walks all sources: those whose files can never give one key side by side, so that a large one does not hold up the
 * others. What an earlier run left under way goes first. Sends may still run when it ends.
 *
 * @param groups - of the sources that were found: those of one may give the same key.
 * @param isFirst - whether it is the first pass since botsync started.
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

/** Sources that were entered, and whose walk begins by that. */
type Entered = ReadonlyMap<FoundSource, EnteredSource>;

/**
 * From here on single paths of all sources may be rescanned, also while the sources before them are still walked. Whose
 * turn to be walked is now need not be entered again for that; a walk that comes to a source later checks its directory again.
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

/** Checks the directory of a source. */
export function enter(
  source: Source,
  { state, config, clock }: SyncContext,
  approved: PassContext['approved'],
): Promise<EnteredSource> {
  const target = state.targetId(source.syncTarget);
  const isAllowed = (halt: Halt): boolean => isApproved(halt, approved(source.config.name));
  return inTurns(enterSource(source, target, state, config.removals.mode, isAllowed), clock);
}

/** What a pass did before its walks. */
interface Before {
  readonly entered: Entered;
  /** By source. */
  readonly sentFirst: ReadonlyMap<string, SentFirst>;
}

/** Whether an earlier run left anything of a source under way. */
function hasInterrupted(found: FoundSource, { state }: SyncContext): boolean {
  if (found.kind === 'missing') return false;
  const { config, syncTarget } = found.source;
  return state.interrupted(state.targetId(syncTarget), config.name, '').length > 0;
}

/** What an earlier run left under way goes before all else: as long as it waits, the platform may hold nothing of it. By source. */
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

/** Checks a source's directory and walks all of it. Sends may still run when it ends. */
async function visit(
  found: FoundSource,
  { entered: enteredBefore, sentFirst }: Before,
  context: PassContext,
): Promise<Visited> {
  if (found.kind === 'missing') return { found, walk: { kind: 'halted', halt: found.halt }, recorded: 0 };
  const { source } = found;
  const recorded = recordedIn(source, context);
  const entered = enteredBefore.get(found) ?? (await enter(source, context, context.approved));
  if (entered.kind === 'halted') return { found, walk: entered, recorded };
  // Files are about to be sent there: an approval of that is not asked for twice.
  context.state.savePlace(source.config.name, placeOfSource(source));
  const target = context.state.targetId(source.syncTarget);
  const records = context.state.records(target, source.config.name);
  const rereading = new Rereading(context.state, target, source.config.name, context.clock.now());
  const all = { source, target, entries: entered.entries, records, isInDoubt: rereading.isTurnOf };
  const sent = sentFirst.get(source.config.name);
  const ended = await walk(sent === undefined ? all : { ...all, sentFirst: sent }, context);
  if (ended !== 'lost' && !context.stop.aborted) rereading.save(context.state);
  if (ended !== 'lost') return { found, walk: { kind: ended, approved: entered.approved }, recorded };
  const halt: Halt = { kind: 'missing', directory: source.root, fault: { kind: 'lost-during-scan' } };
  return { found, walk: { kind: 'halted', halt }, recorded };
}

/** Files of a source on record, those included that are to be removed. */
export function recordedIn(source: Source, { state }: SyncContext): number {
  const target = state.targetId(source.syncTarget);
  const { present, removed } = state.countRecorded(target, source.config.name);
  return present + removed;
}
