import { exitCodeOf } from '../../domain/exit-code.ts';
import { REMOVAL_WINDOW_MS, type Approved, type Halt } from '../../domain/guard.ts';
import { emptySummary, type Summary } from '../../domain/report.ts';
import { listAdoptable } from '../catalog/list-adoptable.ts';
import { isSameDirectory } from '../sources/directory-identity.ts';
import {
  keyGroups,
  enter,
  recordedIn,
  visitSources,
  type SourceWalk,
  type Visited,
} from './visit-sources.ts';
import { findSources, type FoundSource, type Source } from '../sources/source.ts';
import { senderAgain } from './rescan-path.ts';
import { newRound, type PassContext, type SyncContext } from './sync-context.ts';
import { finishSource } from './finish-source.ts';
import { Workers } from './workers.ts';
import type { Emit } from '../events.ts';
import { Blockade } from './blockade.ts';
import type { SendAgain } from './note-status.ts';

/**
 * Files in progress beyond those being transferred: their intents are written together, so that no transfer waits for
 * the disk. A waiting file holds no content and is not open.
 */
const FILES_AHEAD = 128;

const NOTHING = (): Approved => null;

/**
 * Checks every file of every source once and brings the platform up to date. Returns the exit code.
 *
 * @throws {StateFileError} after all work of the pass has ended.
 */
export async function runPass(syncContext: SyncContext, input: PassInput): Promise<number> {
  const { config, state, platform, clock, stop } = syncContext;
  const { summary } = input;
  const beganMs = clock.monotonic();
  const workers = newWorkers(syncContext);
  try {
    const found = findSources(config, syncContext.platformName, syncContext.disk);
    syncContext.claims.meet(found);
    input.onFound?.(found);
    const isFirst = syncContext.round.pass === 0;
    syncContext.round = newRound(state.nextPassNumber(), input.blockade ?? new Blockade(syncContext.config));
    // Running work may change records before the pass reads them.
    syncContext.round.hadRescans = syncContext.keyLocks.count > 0;
    const context = passContext(syncContext, input, workers);
    state.correctMoments(clock.now());
    state.removals.dropExpired(clock.now(), clock.now() - REMOVAL_WINDOW_MS);
    for (const one of found) if (!isAsBefore(one, context)) context.walkStates.set(one.config.name, 'halted');
    await findAdoptable(found, context);
    const visited = await visitSources(found, keyGroups(found), isFirst, context);
    await workers.idle();
    syncContext.patternWarnings.passWalked(seenOf(visited));
    let isHalted = false;
    for (const one of visited) {
      const halt = await finishSource(one, context);
      isHalted ||= halt !== null;
    }
    await input.allSent?.(senderAgain(found, context));
    sumUpConfirmations(summary, syncContext);
    summary.durationMs = Math.round(clock.monotonic() - beganMs);
    const exitCode = exitCodeOf(summary, {
      interrupted: stop.aborted,
      credentials: context.round.blockade.refusal !== null,
      halted: isHalted,
    });
    if (platform.isTimeKnown()) state.savePlatformAhead(Math.max(0, platform.now() - clock.now()));
    state.savePass(context.round.pass, clock.now(), exitCode, JSON.stringify(summary));
    return exitCode;
  } catch (error) {
    syncContext.fail();
    await workers.drain();
    summary.durationMs = Math.round(clock.monotonic() - beganMs);
    throw error;
  } finally {
    syncContext.round.listings.close();
  }
}

/** Returns the sources of which the pass saw every file. */
function seenOf(visited: readonly Visited[]): Source[] {
  return visited.flatMap(({ found, walk }) =>
    found.kind === 'found' && walk.kind === 'complete' ? [found.source] : [],
  );
}

/** The longest wait for the list of the platform's files, milliseconds. Sending without it does no harm. */
const LIST_PATIENCE_MS = 30_000;

/** Lists the platform's files for sources without records. */
async function findAdoptable(
  found: readonly FoundSource[],
  { state, catalog, config, clock, random, stop, emit, round }: PassContext,
): Promise<void> {
  if (catalog === null || !config.platform.mark) return;
  const onRetry = (reason: string, delayMs: number): void => {
    emit({ kind: 'retrying', path: 'what the platform has', reason, delayMs });
  };
  await listAdoptable(found, {
    state,
    catalog,
    listings: round.listings,
    ports: {
      ...{ clock, random, onRetry, stop },
      patienceMs: Math.min(LIST_PATIENCE_MS, config.upload.giveUpAfterMs),
    },
    onDue: (target, source) => {
      state.remote.beginAdoption(target, source);
    },
    warn: (message) => {
      emit({ kind: 'warning', message: message });
    },
  });
}

function passContext(
  syncContext: SyncContext,
  {
    summary,
    isForced,
    approved,
    retriesFailed = true,
    emit = syncContext.emit,
  }: Omit<PassInput, 'onFound' | 'blockade' | 'allSent'>,
  workers: Workers,
): PassContext {
  const transfer = syncContext.bulk;
  return { ...syncContext, emit, summary, transfer, workers, isForced, approved, retriesFailed };
}

function newWorkers({ config, state, fail, detach }: SyncContext): Workers {
  return new Workers(config.upload.concurrency + Math.min(FILES_AHEAD, state.mostAhead), fail, detach);
}

/**
 * Removes files that have been missing in a source long enough, as the end of a pass would. Returns the halt, if any.
 *
 * @throws {StateFileError}
 */
export async function removeWhatIsDue(found: FoundSource, syncContext: SyncContext): Promise<Halt | null> {
  if (found.kind === 'missing') return found.halt;
  const { source } = found;
  const entered = await enter(source, syncContext, NOTHING);
  const walk: SourceWalk = entered.kind === 'halted' ? entered : { kind: 'complete', approved: [] };
  const visited: Visited = { found, walk, recorded: recordedIn(source, syncContext) };
  const workers = newWorkers(syncContext);
  const input = {
    summary: emptySummary(),
    isForced: () => false,
    approved: NOTHING,
    retriesFailed: false,
  };
  try {
    return await finishSource(visited, passContext(syncContext, input, workers));
  } catch (error) {
    syncContext.fail();
    await workers.drain();
    throw error;
  }
}

/** The most files of a bot without a status for a day that a pass reports. */
const OVERDUE_NAMED = 1000;

/** Counts the files without a final status, and reports those that have waited too long. */
function sumUpConfirmations(summary: Summary, { confirmations, state, emit }: SyncContext): void {
  if (confirmations === null) return;
  summary.unconfirmed = confirmations.unconfirmed;
  for (const { target } of confirmations.bots)
    for (const { source, path, key, failure } of state.overdueConfirmations(target, OVERDUE_NAMED)) {
      summary.problems += 1;
      emit({ kind: 'file', file: { kind: 'problem', source, path, key, reason: failure } });
    }
}

/** Returns whether the directory of a source is the one that was checked last: another must be checked first. */
function isAsBefore(found: FoundSource, { state }: SyncContext): boolean {
  if (found.kind === 'missing') return false;
  const seen = state.source(found.config.name);
  return seen !== null && isSameDirectory(seen.identity, found.source.identity);
}

export interface PassInput {
  /** Updated during the pass, so that the counts are available also if it fails. */
  readonly summary: Summary;
  /** Selects files by their paths in the source that are sent whatever the records say. */
  readonly isForced: (path: string) => boolean;
  readonly approved: (source: string) => Approved;
  /** Retry failed files that have not changed since (default: `true`). */
  readonly retriesFailed?: boolean;
  /** Known refusals, which are not retried. */
  readonly blockade?: Blockade;
  /** Replaces the context's. */
  readonly emit?: Emit;
  /**
   * Awaited after all sends and removals, before the pass is summed up. `sendAgain`: resends files that the platform
   * loses in the meantime.
   */
  readonly allSent?: (sendAgain: SendAgain) => Promise<void>;
  /** Called with the sources as the pass found them, before it walks them. */
  readonly onFound?: (found: readonly FoundSource[]) => void;
}
