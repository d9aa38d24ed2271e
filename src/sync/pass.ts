import pLimit from 'p-limit';
import type { Config } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import { exitCodeOf } from '../domain/exit-code.ts';
import type { FilePlatform } from '../domain/file-platform.ts';
import { REMOVAL_WINDOW_MS, type Halt } from '../domain/guard.ts';
import { emptySummary, type Summary } from '../domain/report.ts';
import type { StateStore } from '../state/state-store.ts';
import { Outage } from '../upload/outage.ts';
import { Blockade } from './blockade.ts';
import { Claims } from './claims.ts';
import { noteProblem } from './note-item.ts';
import type { PassContext } from './pass-context.ts';
import { removeMissing } from './removals.ts';
import type { Reporter } from './reporter.ts';
import { findSources, type FoundSource, type Source } from './source.ts';
import { syncSource } from './sync-source.ts';
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
  /** Files to send again whatever the records say, by their path in the source. */
  readonly isForced: (path: string) => boolean;
  /** Lets through, this once, what a guard would halt. */
  readonly allowRemovals: boolean;
  /** No new work once it aborts. */
  readonly stop: AbortSignal;
  /** Breaks off what is under way. */
  readonly abort: AbortSignal;
}

/** How a pass ended. */
export interface PassResult {
  readonly summary: Summary;
  readonly exitCode: number;
}

/**
 * So many files more than can be transferred at a time are in hand: their intents are written down together, so that no
 * transfer waits for the disk. What waits holds no content and no open file.
 */
const FILES_AHEAD = 256;

/** Looks at every file of every source once and brings the platform up to date: scan, decide, upload, record. */
export async function runPass(input: PassInput): Promise<PassResult> {
  const { config, state, clock } = input;
  const beganMs = clock.monotonic();
  const found = findSources(config, input.platformName);
  const context: PassContext = {
    ...input,
    summary: emptySummary(),
    pass: state.nextPassNumber(),
    claims: new Claims(state, found, true),
    blockade: new Blockade(),
    outage: new Outage(clock, input.random, config.upload.giveUpAfterMs),
    transfer: pLimit(config.upload.concurrency),
  };
  state.dropExpiredRemovals(clock.now(), clock.now() - REMOVAL_WINDOW_MS);

  const workers = new Workers(config.upload.concurrency + FILES_AHEAD);
  const halts = new Map<FoundSource, Halt>();
  const complete: FoundSource[] = [];
  for (const one of found) {
    if (input.stop.aborted) break;
    if (one.kind === 'missing') {
      halts.set(one, one.halt);
      continue;
    }
    const walk = await syncSource(one.source, context, workers, input.isForced, input.allowRemovals);
    if (walk.kind === 'halted') halts.set(one, walk.halt);
    else if (walk.kind === 'complete') complete.push(one);
  }
  await workers.idle();

  for (const one of complete) {
    if (one.kind === 'missing') continue;
    const halt =
      config.removals.mode === 'expire' ? await removeFrom(one.source, context, input.allowRemovals) : null;
    if (halt !== null) halts.set(one, halt);
  }
  for (const one of found) close(one, halts.get(one) ?? null, complete.includes(one), context);

  const { summary } = context;
  summary.durationMs = Math.round(clock.monotonic() - beganMs);
  const exitCode = exitCodeOf(summary, {
    interrupted: input.stop.aborted,
    credentials: context.blockade.hasRefusedCredentials,
    halted: halts.size > 0,
  });
  state.savePass(context.pass, clock.now(), exitCode, JSON.stringify(summary));
  return { summary, exitCode };
}

async function removeFrom(source: Source, context: PassContext, allowed: boolean): Promise<Halt | null> {
  const { state, summary } = context;
  const target = state.targetId(source.syncTarget);
  // A file that was renamed and could not be sent under its new key must not go under its old one.
  if (summary.failed + summary.pending === 0) return removeMissing(source, target, context, allowed);
  summary.pending += state.countRecorded(target, source.config.name).removed;
  return null;
}

/** Reports a halt, and remembers how the source was left. */
function close(one: FoundSource, halt: Halt | null, isComplete: boolean, context: PassContext): void {
  const { state } = context;
  const { name, directory } = one.config;
  if (halt !== null) {
    const mend = halt.kind === 'missing' ? '' : '; if that is right, run once with --allow-removals';
    const reason = `halted: ${halt.reason}; nothing was removed${mend}`;
    noteProblem(context, { source: name, path: '.', key: null, kind: 'problem', reason });
  }
  if (isComplete) state.dropProblemsBefore(name, context.pass);
  // The directory of a halted source is not taken for the right one.
  const inode = one.kind === 'found' && halt === null ? one.source.inode : (state.source(name)?.inode ?? '');
  state.saveSource(name, { directory, inode, halted: halt?.reason ?? null });
}
