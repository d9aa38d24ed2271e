import { setTimeout as sleep } from 'node:timers/promises';
import { readDuration } from '../../config/duration.ts';
import { LONGEST_TIMER_MS, readTimer } from '../../config/values.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { SyncError } from '../../library/sync-error.ts';
import type { Standing } from '../../sync/plan/standing.ts';
import type { StatusWords } from '../../words/status.ts';
import { printError } from '../render/output.ts';
import { jsonLine } from '../render/print-json.ts';
import { writeAll } from '../render/write-descriptor.ts';
import { listenForStop } from '../stop-listener.ts';
import { exitCodeOfError, UsageError } from '../usage-error.ts';
import { standingByFacts, statusDocument } from './status-facts.ts';
import type { SeenFacts, StatusFeed } from './status-feed.ts';
import { TerminalStatus } from './terminal-status.ts';

/** How often is asked where nobody says, milliseconds; more often than every second serves nobody. */
const INTERVAL_MS = 2000;
const LEAST_INTERVAL_MS = 1000;

/** An answer that takes long is asked for again after so many times as long, so that asking takes up nobody. */
const REST = 50;
/** But not later than this, milliseconds. */
const LONGEST_REST_MS = 30_000;

/** What `botsync status --watch` needs. */
export interface WatchInput {
  readonly feed: StatusFeed;
  readonly words: Omit<StatusWords, 'nowMs'>;
  /** A duration; empty: the usual one. */
  readonly every: string;
  /** Whether documents are printed when something changed, in place of rows that are kept up to date. */
  readonly isJson: boolean;
}

/** Shows facts as they come. */
interface StatusView {
  readonly show: (seen: SeenFacts, standing: Standing) => void;
  /** The state file cannot be read now. */
  readonly failed: (message: string) => void;
  readonly end: () => void;
}

/**
 * `botsync status --watch`: shows how things stand until somebody ends it. Returns the exit code of the last status; throws
 * `SyncError` as `status` does where there is no first one, and `UsageError`.
 */
export async function watchStatus({ feed, words, every, isJson }: WatchInput): Promise<number> {
  const intervalMs = intervalOf(every);
  if (!isJson && (!process.stdout.isTTY || process.env['TERM'] === 'dumb'))
    throw new UsageError(
      '--watch needs a terminal; for a program use --json --watch, which prints a line of JSON for each change',
    );
  const signals = listenForStop();
  const quit = (): void => {
    signals.request('quit');
  };
  const view: StatusView = isJson ? new StatusLines(quit) : new TerminalStatus(words, intervalMs, quit);
  let last: Shown | null = null;
  let waitMs = 0;
  try {
    while (await rest(waitMs, signals.stop)) {
      const beganMs = performance.now();
      last = await showNext(feed, view, signals.stop, last);
      waitMs = last?.isSilent === true ? intervalMs : restMs(intervalMs, performance.now() - beganMs);
    }
    return last?.exitCode ?? EXIT.interrupted;
  } finally {
    view.end();
    signals.release();
  }
}

/** How long to wait before the next question, milliseconds. `tookMs`: how long the last answer took. */
export function restMs(intervalMs: number, tookMs: number): number {
  return Math.max(intervalMs, Math.min(tookMs * REST, LONGEST_REST_MS));
}

/** What was shown last. */
interface Shown {
  readonly exitCode: number;
  /** Whether a daemon did not answer in time: how long that took says nothing of what an answer costs. */
  readonly isSilent: boolean;
}

/** Shows what there is to know now; returns the last status, `null`: there is none yet. */
async function showNext(
  feed: StatusFeed,
  view: StatusView,
  stop: AbortSignal,
  last: Shown | null,
): Promise<Shown | null> {
  try {
    const seen = await feed.next(stop);
    // Broken off, it tells nothing of the service.
    if (stop.aborted) return last;
    const standing = standingByFacts(seen);
    view.show(seen, standing);
    return { exitCode: standing.exitCode, isSilent: seen.origin.kind === 'silent-daemon' };
  } catch (error) {
    if (!(error instanceof SyncError) || last === null) throw error;
    view.failed(error.message);
    return { ...last, exitCode: exitCodeOfError(error) };
  }
}

/** Waits; returns whether nobody asked for an end. */
async function rest(ms: number, stop: AbortSignal): Promise<boolean> {
  await sleep(ms, undefined, { signal: stop }).catch(() => undefined);
  return !stop.aborted;
}

/** Reads the value of `--watch`. Throws `UsageError` for what is no duration. */
function intervalOf(every: string): number {
  if (every === '') return INTERVAL_MS;
  const duration = readDuration(every, LONGEST_TIMER_MS, LEAST_INTERVAL_MS);
  const reading = duration.kind === 'ok' ? readTimer(duration.value, LEAST_INTERVAL_MS) : duration;
  if (reading.kind === 'problem') throw new UsageError(`--watch: ${reading.message}`);
  return reading.value;
}

/** Prints the document of `botsync status --json` whenever it differs from the one before. */
class StatusLines implements StatusView {
  readonly #quit: () => void;
  #line: string | null = null;
  #trouble: string | null = null;

  /** @param quit - ends the watch: nobody reads any more. */
  constructor(quit: () => void) {
    this.#quit = quit;
  }

  show(seen: SeenFacts, standing: Standing): void {
    this.#trouble = null;
    const line = jsonLine(statusDocument(seen, standing));
    if (line === this.#line) return;
    this.#line = line;
    if (!writeAll(1, `${line}\n`)) this.#quit();
  }

  failed(message: string): void {
    if (message !== this.#trouble) printError(message);
    this.#trouble = message;
  }

  end(): void {
    // Every line is written at once.
  }
}
