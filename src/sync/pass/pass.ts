import { exitCodeOf } from '../../domain/exit-code.ts';
import { REMOVAL_WINDOW_MS, type Approved, type Halt } from '../../domain/guard.ts';
import { emptySummary, type Summary } from '../../domain/report.ts';
import { listAdoptable } from '../catalog/list-adoptable.ts';
import { isSameDirectory } from '../sources/directory-identity.ts';
import { keyGroups } from '../sources/key-groups.ts';
import { findSources, type FoundSource, type Source } from '../sources/source.ts';
import { senderAgain } from './send-again.ts';
import { newRound, type PassContext, type SyncContext } from './sync-context.ts';
import { finishSource } from './finish-source.ts';
import { enter, recordedIn, visitSources, type SourceWalk, type Visited } from './visit-sources.ts';
import { Workers } from './workers.ts';
import type { Emit } from '../events.ts';
import type { Blockade } from './blockade.ts';
import type { SendAgain } from './lost-file.ts';

/**
 * So many files more than can be transferred at a time are in hand: their intents are written down together, so that no
 * transfer waits for the disk. What waits holds no content and no open file.
 */
const FILES_AHEAD = 128;

const NOTHING = (): Approved => null;

/**
 * Looks at every file of every source once and brings the platform up to date: scan, decide, upload, record.
 * Returns the exit code. Throws `StateFileError`; nothing of the pass is under way any more then.
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
    syncContext.round = newRound(state.nextPassNumber(), input.blockade);
    // What is running now may change what the pass reads of its record before it comes to it.
    syncContext.round.hadRescans = syncContext.flights.count > 0;
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
    if (platform.hasToldTime()) state.savePlatformAhead(Math.max(0, platform.now() - clock.now()));
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

/** The sources of which a pass saw every file. */
function seenOf(visited: readonly Visited[]): Source[] {
  return visited.flatMap(({ found, walk }) =>
    found.kind === 'found' && walk.kind === 'complete' ? [found.source] : [],
  );
}

/** Files wait no longer than this for a list of what the platform has, milliseconds: sending them again is not wrong. */
const LIST_PATIENCE_MS = 30_000;

/** Finds out what the platform has of sources of which nothing is on record. */
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
 * Removes what was noticed missing in a source long enough ago, as the end of a pass would. Returns the halt, if there
 * is one. Throws `StateFileError`.
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

/** So many files of a bot of which the platform has not said for a day their status are told of by a pass. */
const OVERDUE_NAMED = 1000;

/** Counts the files that wait for the platform's word, and tells of those that have waited too long. */
function sumUpConfirmations(summary: Summary, { confirmations, state, emit }: SyncContext): void {
  if (confirmations === null) return;
  summary.unconfirmed = confirmations.unconfirmed;
  for (const { target } of confirmations.bots)
    for (const { source, path, key, failure } of state.overdueConfirmations(target, OVERDUE_NAMED)) {
      summary.problems += 1;
      emit({ kind: 'file', file: { kind: 'problem', source, path, key, reason: failure } });
    }
}

/** Whether the directory of a source is the one that was checked last: nothing of another is looked at before it is. */
function isAsBefore(found: FoundSource, { state }: SyncContext): boolean {
  if (found.kind === 'missing') return false;
  const seen = state.source(found.config.name);
  return seen !== null && isSameDirectory(seen.identity, found.source.identity);
}

/** What a pass is given, beside what it shares with all others. */
export interface PassInput {
  /** Counted up as the pass goes on; the caller has the counts also when it fails. */
  readonly summary: Summary;
  /** Files to send again whatever the records say, by their path in the source. */
  readonly isForced: (path: string) => boolean;
  /** What somebody has approved for a source. */
  readonly approved: (source: string) => Approved;
  /** Whether files that failed, and have not changed since, are retried: by default they are. */
  readonly retriesFailed?: boolean;
  /** What keeps files from being sent is taken as known already, and not tried. */
  readonly blockade?: Blockade;
  /** Instead of the context's. */
  readonly emit?: Emit;
  /** Awaited when everything was sent and removed, before the pass is summed up. `sendAgain`: for what the platform loses meanwhile. */
  readonly allSent?: (sendAgain: SendAgain) => Promise<void>;
  /** Told the sources as the pass found them, before it walks them. */
  readonly onFound?: (found: readonly FoundSource[]) => void;
}
