import { exitCodeOf } from '../../domain/exit-code.ts';
import { REMOVAL_WINDOW_MS, type Halt } from '../../domain/guard.ts';
import { emptySummary, type Summary } from '../../domain/report.ts';
import type { Blockade } from './blockade.ts';
import { isSameDirectory, isStillThere } from '../sources/directory-identity.ts';
import { enterSource, type EnteredSource } from '../sources/enter-source.ts';
import { mountsBelow } from '../sources/mounts.ts';
import { newRound, type Engine, type WalkContext } from './engine.ts';
import { sendInterrupted, type SentFirst } from './interrupted.ts';
import { keyGroups } from '../sources/key-groups.ts';
import { noteProblem } from './note-item.ts';
import { removeMissing } from './removals.ts';
import type { Reporter } from './reporter.ts';
import { findSources, type FoundSource, type Source } from '../sources/source.ts';
import { walk } from './walk.ts';
import { Rereading } from '../plan/rereading.ts';
import { inTurns } from '../plan/turns.ts';
import { Workers } from './workers.ts';

/** What a pass is given, beside what it shares with all others. */
export interface PassInput {
  /** Counted up as the pass goes on; whoever began it has the counts also when it fails. */
  readonly summary: Summary;
  /** Files to send again whatever the records say, by their path in the source. */
  readonly isForced: (path: string) => boolean;
  /** Whether to let through, this once, what a guard would halt a source for. */
  readonly isAllowed: (source: string, halt: Halt) => boolean;
  /** Whether files that failed, and have not changed since, are tried again: by default they are. */
  readonly retriesFailed?: boolean;
  /** What keeps files from being sent is taken as known already, and not tried. */
  readonly blockade?: Blockade;
  /** Instead of the engine's. */
  readonly report?: Reporter;
  /** Told the sources as the pass found them, before it walks them. */
  readonly onFound?: (found: readonly FoundSource[]) => void;
}

/**
 * So many files more than can be transferred at a time are in hand: their intents are written down together, so that no
 * transfer waits for the disk. What waits holds no content and no open file.
 */
const FILES_AHEAD = 96;

const NOTHING_SENT: ReadonlyMap<string, SentFirst> = new Map();

const NOTHING_ALLOWED = (): boolean => false;

/** How the walk over a source ended. Removals need a complete one: what was not seen may still be there. */
type Walk =
  | { readonly kind: 'halted'; readonly halt: Halt }
  /** `approved`: what would have halted it, had nobody looked at it. */
  | { readonly kind: 'complete' | 'incomplete'; readonly approved: readonly Halt[] };

/** A source that the pass came to. */
interface Visited {
  readonly found: FoundSource;
  readonly walk: Walk;
  /** Files on record before anything was sent: what a fraction of removals is taken of. */
  readonly recorded: number;
}

/**
 * Looks at every file of every source once and brings the platform up to date: scan, decide, upload, record.
 * Returns the exit code. Throws `StateFileError`; nothing of the pass is under way any more then.
 */
export async function runPass(engine: Engine, input: PassInput): Promise<number> {
  const { config, state, platform, clock, stop } = engine;
  const { summary } = input;
  const beganMs = clock.monotonic();
  const workers = newWorkers(engine);
  try {
    const found = findSources(config, engine.platformName, engine.disk);
    engine.claims.meet(found);
    input.onFound?.(found);
    const isFirst = engine.round.pass === 0;
    engine.round = newRound(state.nextPassNumber(), input.blockade);
    const report = input.report ?? engine.report;
    const context: WalkContext = { ...engine, report, summary, transfer: engine.bulk };
    state.correctMoments(clock.now());
    state.dropExpiredRemovals(clock.now(), clock.now() - REMOVAL_WINDOW_MS);
    for (const one of found) if (!isAsBefore(one, context)) context.standings.set(one.config.name, 'halted');
    const groups = keyGroups(found);
    const hasLeftOver = isFirst && found.some((one) => hasInterrupted(one, context));
    const entered =
      context.isWatched || hasLeftOver
        ? await letLooksIn(groups, context, input)
        : new Map<FoundSource, EnteredSource>();
    const sentFirst = hasLeftOver ? await sendAllInterrupted(found, context, input, workers) : NOTHING_SENT;
    const visited = await visitAll(found, groups, { entered, sentFirst }, context, input, workers);
    await workers.idle();
    let isHalted = false;
    for (const one of visited) {
      const halt = await finish(one, context, input, workers);
      isHalted ||= halt !== null;
    }
    summary.durationMs = Math.round(clock.monotonic() - beganMs);
    const exitCode = exitCodeOf(summary, {
      interrupted: stop.aborted,
      credentials: context.round.blockade.refusal !== null,
      halted: isHalted,
    });
    if (platform.hasToldTime()) state.savePlatformAhead(Math.max(0, platform.now() - clock.now()));
    state.savePass(context.round.pass, clock.now(), exitCode, JSON.stringify(summary));
    return exitCode;
  } catch (error) {
    engine.fail();
    await workers.drain();
    summary.durationMs = Math.round(clock.monotonic() - beganMs);
    throw error;
  }
}

function newWorkers({ config, fail, detach }: Engine): Workers {
  return new Workers(config.upload.concurrency + FILES_AHEAD, fail, detach);
}

/**
 * Removes what was noticed missing in a source long enough ago, as the end of a pass would. Returns the halt, if there
 * is one. Throws `StateFileError`.
 */
export async function removeWhatIsDue(found: FoundSource, engine: Engine): Promise<Halt | null> {
  if (found.kind === 'missing') return found.halt;
  const { source } = found;
  const entered = await enter(source, engine, NOTHING_ALLOWED);
  const walk: Walk = entered.kind === 'halted' ? entered : { kind: 'complete', approved: [] };
  const context = { ...engine, summary: emptySummary(), transfer: engine.bulk };
  const visited: Visited = { found, walk, recorded: recordedIn(source, engine) };
  const workers = newWorkers(engine);
  try {
    return await finish(visited, context, { isAllowed: NOTHING_ALLOWED, retriesFailed: false }, workers);
  } catch (error) {
    engine.fail();
    await workers.drain();
    throw error;
  }
}

/** Whether the directory of a source is the one that was checked last: nothing of another is looked at before it is. */
function isAsBefore(found: FoundSource, { state }: Engine): boolean {
  if (found.kind === 'missing') return false;
  const seen = state.source(found.config.name);
  return seen !== null && isSameDirectory(seen.identity, found.source.identity);
}

/** Sources that were entered, and whose walk begins by that. */
type Entered = ReadonlyMap<FoundSource, EnteredSource>;

/**
 * From here on single files of all sources may be looked at, also while the sources before them are still walked. Whose
 * turn to be walked is now need not be entered again for that; a walk that comes to a source later checks its directory again.
 */
async function letLooksIn(
  groups: readonly FoundSource[][],
  context: WalkContext,
  { isAllowed }: PassInput,
): Promise<Entered> {
  const { standings } = context;
  const firsts = new Map<FoundSource, EnteredSource>();
  for (const group of groups) {
    for (const found of group) {
      const { name } = found.config;
      const entered = found.kind === 'found' ? await enter(found.source, context, isAllowed) : null;
      if (entered?.kind !== 'open') standings.set(name, 'halted');
      else if (standings.get(name) !== 'complete') standings.set(name, 'incomplete');
      if (entered !== null && found === group[0]) firsts.set(found, entered);
    }
  }
  return firsts;
}

/** Checks the directory of a source. */
function enter(
  source: Source,
  { state, config, clock }: Engine,
  isAllowed: PassInput['isAllowed'],
): Promise<EnteredSource> {
  const target = state.targetId(source.syncTarget);
  const isAllowedHere = (halt: Halt): boolean => isAllowed(source.config.name, halt);
  return inTurns(enterSource(source, target, state, config.removals.mode, isAllowedHere), clock);
}

/** What a pass did before its walks. */
interface Before {
  readonly entered: Entered;
  /** By source. */
  readonly sentFirst: ReadonlyMap<string, SentFirst>;
}

/** Whether an earlier run left anything of a source under way. */
function hasInterrupted(found: FoundSource, { state }: Engine): boolean {
  if (found.kind === 'missing') return false;
  const { config, syncTarget } = found.source;
  return state.interrupted(state.targetId(syncTarget), config.name, '').length > 0;
}

/** What an earlier run left under way goes before all else: as long as it waits, the platform may hold nothing of it. By source. */
async function sendAllInterrupted(
  found: readonly FoundSource[],
  context: WalkContext,
  { isForced }: PassInput,
  workers: Workers,
): Promise<ReadonlyMap<string, SentFirst>> {
  const sent = new Map<string, SentFirst>();
  const before: Source[] = [];
  for (const one of found) {
    if (one.kind === 'missing') continue;
    if (context.standings.get(one.config.name) !== 'halted')
      sent.set(one.config.name, await sendInterrupted(one.source, [...before], context, workers, isForced));
    before.push(one.source);
  }
  return sent;
}

/** Sources whose files can never give one key are walked side by side: a large one does not hold up the others. */
async function visitAll(
  found: readonly FoundSource[],
  groups: readonly FoundSource[][],
  before: Before,
  context: WalkContext,
  input: PassInput,
  workers: Workers,
): Promise<Visited[]> {
  const visited = new Map<FoundSource, Visited>();
  const ends = await Promise.allSettled(
    groups.map(async (group) => {
      for (const one of group) {
        if (context.stop.aborted) break;
        visited.set(one, await visit(one, before, context, input, workers));
      }
    }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return found.flatMap((one) => visited.get(one) ?? []);
}

/** Checks a source's directory and walks all of it. Sends may still run when it ends. */
async function visit(
  found: FoundSource,
  { entered: enteredBefore, sentFirst }: Before,
  context: WalkContext,
  { isForced, isAllowed, retriesFailed = true }: PassInput,
  workers: Workers,
): Promise<Visited> {
  if (found.kind === 'missing') return { found, walk: { kind: 'halted', halt: found.halt }, recorded: 0 };
  const { source } = found;
  const recorded = recordedIn(source, context);
  const entered = enteredBefore.get(found) ?? (await enter(source, context, isAllowed));
  if (entered.kind === 'halted') return { found, walk: entered, recorded };
  const target = context.state.targetId(source.syncTarget);
  const records = context.state.records(target, source.config.name);
  const rereading = new Rereading(context.state, target, source.config.name, context.clock.now());
  const all = { source, target, entries: entered.entries, records, isInDoubt: rereading.isTurnOf };
  const sent = sentFirst.get(source.config.name);
  const stretch = sent === undefined ? all : { ...all, sentFirst: sent };
  const ended = await walk(stretch, context, workers, isForced, retriesFailed);
  if (ended !== 'lost' && !context.stop.aborted) rereading.save(context.state);
  if (ended !== 'lost') return { found, walk: { kind: ended, approved: entered.approved }, recorded };
  const reason = `${source.root} was unmounted, removed or replaced while it was looked at`;
  return { found, walk: { kind: 'halted', halt: { kind: 'missing', reason } }, recorded };
}

function recordedIn(source: Source, { state }: Engine): number {
  const target = state.targetId(source.syncTarget);
  const { present, removed } = state.countRecorded(target, source.config.name);
  return present + removed;
}

/** Removes what is to be removed, and remembers how the source was left. Returns the halt, if there is one. */
async function finish(
  visited: Visited,
  context: WalkContext,
  { isAllowed, retriesFailed = true }: Pick<PassInput, 'isAllowed' | 'retriesFailed'>,
  workers: Workers,
): Promise<Halt | null> {
  const { found, recorded } = visited;
  const { state, config, standings, halts } = context;
  const { name, directory } = found.config;
  const walk: Walk =
    visited.walk.kind === 'complete' && context.round.unseen.has(name)
      ? { ...visited.walk, kind: 'incomplete' }
      : visited.walk;
  let halt = walk.kind === 'halted' ? walk.halt : null;
  if (found.kind === 'found' && config.removals.mode === 'expire') {
    if (walk.kind === 'complete')
      halt = await removeMissing(
        found.source,
        recorded,
        context,
        walk.approved,
        (met) => isAllowed(name, met),
        retriesFailed,
        workers,
      );
    // What would be removed after a complete walk is left alone for now.
    if (walk.kind === 'incomplete') {
      const { removed } = state.countRecorded(state.targetId(found.source.syncTarget), name);
      context.summary.kept += removed;
      if (removed > 0 && !context.stop.aborted)
        context.report.warn(
          `${name}: nothing is removed from the platform (${removed} to go), as not everything of the source could be seen`,
        );
    }
  }
  state.dropProblemsAt(name, '.');
  if (halt === null) halts.delete(name);
  else halts.set(name, halt);
  if (halt !== null) {
    const mend = halt.kind === 'missing' ? '' : `; if that is right, ${context.howToAllow}`;
    const reason = `halted: ${halt.reason}; ${halt.kind === 'mass-removal' ? 'none of these was' : 'nothing was'} removed${mend}`;
    noteProblem(context, { source: name, path: '.', key: null, kind: 'problem', reason });
  }
  // A walk that a stop cut short says nothing of the source.
  if (context.stop.aborted && halt === null) return null;
  const isOther = found.kind === 'found' && !isStillThere(found.source);
  standings.set(name, isOther ? 'halted' : walk.kind);
  if (walk.kind !== 'halted') state.dropProblemsBefore(name, context.round.pass);
  // The directory of a halted source is not taken for the right one.
  const identity =
    found.kind === 'found' && halt === null ? found.source.identity : (state.source(name)?.identity ?? '');
  if (found.kind === 'found' && halt === null) noteMounts(found.source, context);
  state.saveSource(name, { directory, identity, halted: halt?.reason ?? null });
  return halt;
}

/**
 * Notes what is mounted below a source, also what came while it was walked. Where nothing is removed, none is forgotten: its
 * files would be removed should that change.
 */
function noteMounts(source: Source, { state, config }: Engine): void {
  const { name } = source.config;
  const kept = config.removals.mode === 'keep' ? state.mounts(name) : [];
  state.saveMounts(name, [...new Set([...kept, ...source.mounts, ...mountsBelow(source)])].sort());
}
