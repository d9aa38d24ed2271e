import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT } from '../../domain/exit-code.ts';
import { SyncError } from '../../run/sync-error.ts';
import type { Standing } from '../../domain/status.ts';
import type { StatusWords } from '../../words/status.ts';
import { printError, jsonLine } from '../render/output.ts';
import { writeAll } from '../render/write-descriptor.ts';
import { readWait } from '../arguments.ts';
import { listenForStop } from '../signals.ts';
import { exitCodeOfError, UsageError } from '../usage-error.ts';
import { standingByFacts, statusDocument, type StatusFacts, type StatusFeed } from './status-feed.ts';
import { TerminalStatus } from './terminal-status.ts';

/** Default and minimum interval, in milliseconds. */
const INTERVAL_MS = 2000;
const LEAST_INTERVAL_MS = 1000;

/** After a slow answer, the next request waits for this many times its duration. */
const REST = 50;

/** But not longer than this, in milliseconds. */
const LONGEST_REST_MS = 30_000;

export interface WatchInput {
  readonly feed: StatusFeed;
  readonly words: Omit<StatusWords, 'nowMs'>;
  /** A duration; empty for the default. */
  readonly every: string;
  /** Print a document for each change, instead of updating rows. */
  readonly isJson: boolean;
}

interface StatusView {
  readonly show: (seen: StatusFacts, standing: Standing) => void;
  /** The state file cannot be read now. */
  readonly failed: (message: string) => void;
  readonly end: () => void;
}

/**
 * `botsync status --watch`: shows the status until it is ended. Returns the exit code of the last status; throws
 * `UsageError`, and `SyncError` if there is no first status.
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

/** Returns the wait before the next request, in milliseconds. `tookMs`: the duration of the last answer. */
export function restMs(intervalMs: number, tookMs: number): number {
  return Math.max(intervalMs, Math.min(tookMs * REST, LONGEST_REST_MS));
}

interface Shown {
  readonly exitCode: number;
  /** A daemon did not answer in time: then the duration does not reflect the cost of an answer. */
  readonly isSilent: boolean;
}

/** Shows the current status and returns it; `null` before the first one. */
async function showNext(
  feed: StatusFeed,
  view: StatusView,
  stop: AbortSignal,
  last: Shown | null,
): Promise<Shown | null> {
  try {
    const seen = await feed.next(stop);
    // An aborted request says nothing about the service.
    if (stop.aborted) return last;
    const standing = standingByFacts(seen);
    view.show(seen, standing);
    return { exitCode: standing.exitCode, isSilent: seen.known.service.kind === 'silent' };
  } catch (error) {
    if (!(error instanceof SyncError) || last === null) throw error;
    view.failed(error.message);
    return { ...last, exitCode: exitCodeOfError(error) };
  }
}

/** Returns whether the watch continues. */
async function rest(ms: number, stop: AbortSignal): Promise<boolean> {
  await sleep(ms, undefined, { signal: stop }).catch(() => undefined);
  return !stop.aborted;
}

/** Parses `--watch`. Throws `UsageError`. */
function intervalOf(every: string): number {
  if (every === '') return INTERVAL_MS;
  return readWait('--watch', every, LEAST_INTERVAL_MS);
}

/** Prints the document of `botsync status --json` when it changed. */
class StatusLines implements StatusView {
  readonly #quit: () => void;
  #line: string | null = null;
  #trouble: string | null = null;

  /** @param quit - ends the watch when the reader is gone. */
  constructor(quit: () => void) {
    this.#quit = quit;
  }

  show(seen: StatusFacts, standing: Standing): void {
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
    // Every line was written at once.
  }
}
