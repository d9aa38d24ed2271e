import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import type { Config } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import { exitCodeOf } from '../domain/exit-code.ts';
import type { FilePlatform } from '../domain/file-platform.ts';
import { REMOVAL_WINDOW_MS, type Halt } from '../domain/guard.ts';
import type { Summary } from '../domain/report.ts';
import type { StateStore } from '../state/state-store.ts';
import { Outage } from '../upload/outage.ts';
import { Blockade } from './blockade.ts';
import { Claims } from './claims.ts';
import { IndexWarnings } from './index-warnings.ts';
import { noteProblem } from './note-item.ts';
import type { PassContext } from './pass-context.ts';
import { removeMissing } from './removals.ts';
import type { Reporter } from './reporter.ts';
import { findSources, type FoundSource } from './source.ts';
import { syncSource, type Walk } from './sync-source.ts';
import { Unsent } from './unsent.ts';
import { Workers } from './workers.ts';

/** What a pass is given. */
export interface PassInput {
  readonly config: Config;
  /** What the platform is called in records: its address, or a name that stays while the address does not. */
  readonly platformName: string;
  readonly state: StateStore;
  readonly platform: FilePlatform;
  readonly clock: Clock;
  /** A number in [0, 1): jitter. */
  readonly random: () => number;
  readonly report: Reporter;
  /** Counted up as the pass goes on; whoever began it has the counts also when it fails. */
  readonly summary: Summary;
  /** Files to send again whatever the records say, by their path in the source. */
  readonly isForced: (path: string) => boolean;
  /** Lets through, this once, what a guard would halt. */
  readonly allowRemovals: boolean;
  /** No new work once it aborts. */
  readonly stop: AbortSignal;
  /** Breaks off what is under way. */
  readonly abort: AbortSignal;
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
 * Returns the exit code. Throws `StateFileError`; nothing is under way any more then.
 */
export async function runPass(input: PassInput): Promise<number> {
  const { config, state, clock, summary } = input;
  const beganMs = clock.monotonic();
  const found = findSources(config, input.platformName);
  const failed = new AbortController();
  const context: PassContext = {
    ...input,
    pass: state.nextPassNumber(),
    claims: new Claims(state, found, true),
    blockade: new Blockade(),
    outage: new Outage(clock, input.random, config.upload.giveUpAfterMs),
    unsent: new Unsent(),
    indexWarnings: new IndexWarnings(config.limits.indexableExtensions, (message) => {
      input.report.warn(message);
    }),
    transfer: pLimit(config.upload.concurrency),
    stop: AbortSignal.any([input.stop, failed.signal]),
    abort: AbortSignal.any([input.abort, failed.signal]),
  };
  // Every request under way listens.
  setMaxListeners(0, context.stop, context.abort);
  const workers = new Workers(config.upload.concurrency + FILES_AHEAD);
  try {
    state.dropExpiredRemovals(clock.now(), clock.now() - REMOVAL_WINDOW_MS);
    const visited: Visited[] = [];
    for (const one of found) {
      if (input.stop.aborted) break;
      visited.push(await visit(one, context, input, workers));
    }
    await workers.idle();
    let isHalted = false;
    for (const one of visited) {
      const halt = await finish(one, context, input.allowRemovals);
      isHalted ||= halt !== null;
    }
    summary.durationMs = Math.round(clock.monotonic() - beganMs);
    const exitCode = exitCodeOf(summary, {
      interrupted: input.stop.aborted,
      credentials: context.blockade.hasRefusedCredentials,
      halted: isHalted,
    });
    state.savePass(context.pass, clock.now(), exitCode, JSON.stringify(summary));
    return exitCode;
  } catch (error) {
    failed.abort();
    await workers.drain();
    summary.durationMs = Math.round(clock.monotonic() - beganMs);
    throw error;
  }
}

async function visit(
  found: FoundSource,
  context: PassContext,
  input: PassInput,
  workers: Workers,
): Promise<Visited> {
  if (found.kind === 'missing') return { found, walk: { kind: 'halted', halt: found.halt }, recorded: 0 };
  const { state } = context;
  const { present, removed } = state.countRecorded(
    state.targetId(found.source.syncTarget),
    found.config.name,
  );
  const walk = await syncSource(found.source, context, workers, input.isForced, input.allowRemovals);
  return { found, walk, recorded: present + removed };
}

/** Removes what is to be removed, and remembers how the source was left. Returns the halt, if there is one. */
async function finish(visited: Visited, context: PassContext, allowed: boolean): Promise<Halt | null> {
  const { found, walk, recorded } = visited;
  const { state, config } = context;
  let halt = walk.kind === 'halted' ? walk.halt : null;
  if (found.kind === 'found' && walk.kind === 'complete' && config.removals.mode === 'expire') {
    halt = await removeMissing(found.source, recorded, context, allowed);
  }
  const { name, directory } = found.config;
  if (halt !== null) {
    const mend = halt.kind === 'missing' ? '' : '; if that is right, run once with --allow-removals';
    const reason = `halted: ${halt.reason}; nothing was removed${mend}`;
    noteProblem(context, { source: name, path: '.', key: null, kind: 'problem', reason });
  }
  // A walk that a stop cut short says nothing of the source.
  if (context.stop.aborted && halt === null) return null;
  if (walk.kind !== 'halted') state.dropProblemsBefore(name, context.pass);
  // The directory of a halted source is not taken for the right one.
  const identity =
    found.kind === 'found' && halt === null ? found.source.identity : (state.source(name)?.identity ?? '');
  state.saveSource(name, { directory, identity, halted: halt?.reason ?? null });
  return halt;
}
