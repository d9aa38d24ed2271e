import { exitCodeOf } from '../domain/exit-code.ts';
import { REMOVAL_WINDOW_MS, type Halt } from '../domain/guard.ts';
import { emptySummary, type Summary } from '../domain/report.ts';
import { newRound, type Engine, type WalkContext } from './engine.ts';
import { keyGroups } from './key-groups.ts';
import { noteProblem } from './note-item.ts';
import { removeMissing } from './removals.ts';
import type { Reporter } from './reporter.ts';
import { checkRoot } from './root-check.ts';
import { findSources, type FoundSource, type Source } from './source.ts';
import { beginScan, syncSource, type Walk } from './sync-source.ts';
import { Workers } from './workers.ts';

/** What a pass is given, beside what it shares with all others. */
export interface PassInput {
  /** Counted up as the pass goes on; whoever began it has the counts also when it fails. */
  readonly summary: Summary;
  /** Files to send again whatever the records say, by their path in the source. */
  readonly isForced: (path: string) => boolean;
  /** Whether to let through, this once, what a guard would halt in a source. */
  readonly isAllowed: (source: string) => boolean;
  /** Instead of the engine's. */
  readonly report?: Reporter;
  /** Told the sources as the pass found them, before it walks them. */
  readonly onFound?: (found: readonly FoundSource[]) => void;
}

/**
 * So many files more than can be transferred at a time are in hand: their intents are written down together, so that no
 * transfer waits for the disk. What waits holds no content and no open file.
 */
const FILES_AHEAD = 256;

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
  const { config, state, clock, stop } = engine;
  const { summary } = input;
  const beganMs = clock.monotonic();
  const workers = new Workers(config.upload.concurrency + FILES_AHEAD, engine.fail);
  try {
    const found = findSources(config, engine.platformName);
    engine.claims.meet(found);
    input.onFound?.(found);
    engine.round = newRound(state.nextPassNumber());
    const report = input.report ?? engine.report;
    const context: WalkContext = { ...engine, ...engine.round, report, summary, transfer: engine.bulk };
    state.dropExpiredRemovals(clock.now(), clock.now() - REMOVAL_WINDOW_MS);
    const visited = await visitAll(found, context, input, workers);
    await workers.idle();
    let isHalted = false;
    for (const one of visited) {
      const halt = await finish(one, context, input.isAllowed(one.found.config.name));
      isHalted ||= halt !== null;
    }
    summary.durationMs = Math.round(clock.monotonic() - beganMs);
    const exitCode = exitCodeOf(summary, {
      interrupted: stop.aborted,
      credentials: context.blockade.refusal !== null,
      halted: isHalted,
    });
    state.savePass(context.pass, clock.now(), exitCode, JSON.stringify(summary));
    return exitCode;
  } catch (error) {
    engine.fail();
    await workers.drain();
    summary.durationMs = Math.round(clock.monotonic() - beganMs);
    throw error;
  }
}

/**
 * Removes what was noticed missing in a source long enough ago, as the end of a pass would. Returns the halt, if there
 * is one. Throws `StateFileError`.
 */
export async function removeWhatIsDue(found: FoundSource, engine: Engine): Promise<Halt | null> {
  if (found.kind === 'missing') return found.halt;
  const { source } = found;
  const { state, config } = engine;
  const target = state.targetId(source.syncTarget);
  const begun = beginScan(source);
  const halt =
    begun.kind === 'halted'
      ? begun.halt
      : checkRoot(source, target, state, begun.isEmpty, config.removals.mode);
  const walk: Walk = halt === null ? { kind: 'complete' } : { kind: 'halted', halt };
  const context = { ...engine, ...engine.round, summary: emptySummary(), transfer: engine.bulk };
  return await finish({ found, walk, recorded: recordedIn(source, engine) }, context, false);
}

/** Sources whose files can never give one key are walked side by side: a large one does not hold up the others. */
async function visitAll(
  found: readonly FoundSource[],
  context: WalkContext,
  input: PassInput,
  workers: Workers,
): Promise<Visited[]> {
  const visited = new Map<FoundSource, Visited>();
  const groups = await Promise.allSettled(
    keyGroups(found).map(async (group) => {
      for (const one of group) {
        if (context.stop.aborted) break;
        visited.set(one, await visit(one, context, input, workers));
      }
    }),
  );
  for (const group of groups) if (group.status === 'rejected') throw group.reason;
  return found.flatMap((one) => visited.get(one) ?? []);
}

async function visit(
  found: FoundSource,
  context: WalkContext,
  { isForced, isAllowed }: PassInput,
  workers: Workers,
): Promise<Visited> {
  if (found.kind === 'missing') return { found, walk: { kind: 'halted', halt: found.halt }, recorded: 0 };
  const recorded = recordedIn(found.source, context);
  const walk = await syncSource(found.source, context, workers, isForced, isAllowed(found.config.name));
  return { found, walk, recorded };
}

function recordedIn(source: Source, { state }: Engine): number {
  const target = state.targetId(source.syncTarget);
  const { present, removed } = state.countRecorded(target, source.config.name);
  return present + removed;
}

/** Removes what is to be removed, and remembers how the source was left. Returns the halt, if there is one. */
async function finish(visited: Visited, context: WalkContext, allowed: boolean): Promise<Halt | null> {
  const { found, walk, recorded } = visited;
  const { state, config, standings } = context;
  let halt = walk.kind === 'halted' ? walk.halt : null;
  if (found.kind === 'found' && config.removals.mode === 'expire') {
    if (walk.kind === 'complete') halt = await removeMissing(found.source, recorded, context, allowed);
    // What would be removed after a complete walk is left alone for now.
    if (walk.kind === 'incomplete')
      context.summary.kept += state.countRecorded(
        state.targetId(found.source.syncTarget),
        found.config.name,
      ).removed;
  }
  const { name, directory } = found.config;
  state.dropProblemsAt(name, '.');
  if (halt !== null) {
    const mend = halt.kind === 'missing' ? '' : `; if that is right, ${context.howToAllow}`;
    const reason = `halted: ${halt.reason}; nothing was removed${mend}`;
    noteProblem(context, { source: name, path: '.', key: null, kind: 'problem', reason });
  }
  // A walk that a stop cut short says nothing of the source.
  if (context.stop.aborted && halt === null) return null;
  standings.set(name, walk.kind);
  if (walk.kind !== 'halted') state.dropProblemsBefore(name, context.pass);
  // The directory of a halted source is not taken for the right one.
  const identity =
    found.kind === 'found' && halt === null ? found.source.identity : (state.source(name)?.identity ?? '');
  state.saveSource(name, { directory, identity, halted: halt?.reason ?? null });
  return halt;
}
