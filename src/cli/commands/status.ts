import type { LoadedConfig } from '../../config/load-config.ts';
import { EXIT } from '../../domain/exit-code.ts';
import type { Usages } from '../../domain/usage.ts';
import { commandEnd, type GlobalOptions } from '../global-options.ts';
import { load, platformName } from '../../run/run-base.ts';
import { printError, printJson, paintFor, jsonLine } from '../render/output.ts';
import { printLines } from '../render/text-layout.ts';
import { describeStatus, type StatusWords } from '../../words/status.ts';
import { describeUsage, usageForPrograms } from '../../words/usage.ts';
import type { Session } from '../session.ts';
import { SyncError } from '../../run/sync-error.ts';
import { whyNotAsked } from '../../run/usage.ts';
import { BrokenConfigFeed, openFeed } from '../status/status-feed.ts';
import { statusDocument, type StatusFacts, type StatusFeed } from '../status/status-facts.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { standingOf } from '../../sync/plan/standing.ts';
import type { Standing } from '../../domain/status.ts';
import { writeAll } from '../render/write-descriptor.ts';
import { readWait } from '../arguments.ts';
import { listenForStop } from '../signals.ts';
import { exitCodeOfError, UsageError } from '../usage-error.ts';
import { TerminalStatus } from '../status/terminal-status.ts';

export interface StatusOptions extends GlobalOptions {
  readonly usage: boolean;
  /** The interval, a duration (empty for the default); `undefined`: once. */
  readonly watch: string | undefined;
}

/**
 * `botsync status`: the status from a running daemon, else from the state file. Returns the exit code of the status
 * (see `Standing`). Throws `UsageError`.
 */
export async function status(options: StatusOptions): Promise<number> {
  const { feed, isAsked, hasLedger } = await openStatus(options);
  const words: Omit<StatusWords, 'nowMs'> = {
    nextStep: `botsync sync --once${commandEnd(options)}`,
    commandEnd: commandEnd(options),
    isAsked,
    hasLedger,
    paint: paintFor(1),
  };
  if (options.watch !== undefined)
    return await watchStatus({ feed, words, every: options.watch, isJson: options.json });
  const facts = await feed.next();
  const standing = standingOf(facts.known, facts.daemon);
  const show = (asked: Usages | null): void => {
    if (options.json) {
      const usage = options.usage && { usage: asked && usageForPrograms(asked, null) };
      printJson({ ...statusDocument(facts, standing), ...usage });
    } else {
      const now = { ...words, nowMs: Date.now() };
      const lines = describeStatus(facts.known, standing, facts.daemon, now);
      if (asked !== null)
        lines.push('', "Usage, in the platform's units:", ...indented(describeUsage(asked, null)));
      printLines(lines);
    }
  };
  if (options.usage) {
    const { withSession } = await import('../session.ts');
    const exitCode = await withSession(options, 'status', (session) => withUsage(session, show));
    return exitCode === EXIT.ok ? standing.exitCode : exitCode;
  }
  show(null);
  return standing.exitCode;
}

interface OpenedStatus extends Pick<StatusWords, 'isAsked' | 'hasLedger'> {
  readonly feed: StatusFeed;
}

/** Opens the feed of the status. With an invalid configuration, a service may still run with the previous one. */
async function openStatus(options: StatusOptions): Promise<OpenedStatus> {
  let loaded: LoadedConfig;
  try {
    loaded = load(options);
  } catch (error) {
    if (!(error instanceof SyncError) || error.code !== 'configuration') throw error;
    return { feed: new BrokenConfigFeed(options, error), isAsked: true, hasLedger: false };
  }
  const { config } = loaded;
  return {
    feed: await openFeed({ loaded, platformName: platformName(options, config), env: process.env }),
    isAsked: config.platform.operations !== 'specified',
    hasLedger: config.cluster !== null,
  };
}

/** Prints the status with the usage, or without it if the platform does not report it. */
async function withUsage({ usage, signal }: Session, show: (asked: Usages | null) => void): Promise<number> {
  const asked = await usage().all(signal);
  show(asked.kind === 'ok' ? asked.value : null);
  if (asked.kind === 'failed' && !signal.aborted) printError(whyNotAsked(asked));
  return EXIT.ok;
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}

/** Default and minimum interval, in milliseconds. */
const INTERVAL_MS = 2000;
const LEAST_INTERVAL_MS = 1000;

/** After a slow answer, the next request waits for this many times its duration. */
const REST = 50;

/** But not longer than this, in milliseconds. */
const LONGEST_REST_MS = 30_000;

interface WatchInput {
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
async function watchStatus({ feed, words, every, isJson }: WatchInput): Promise<number> {
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
    const standing = standingOf(seen.known, seen.daemon);
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
