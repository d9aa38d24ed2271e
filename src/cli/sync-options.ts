import { readDuration } from '../config/duration.ts';
import { LONGEST_TIMER_MS, readTimer } from '../config/values.ts';
import { compilePattern } from '../domain/rules.ts';
import type { GlobalOptions } from './global-options.ts';
import { UsageError } from './usage-error.ts';

/** Options of `botsync sync`. */
export interface SyncOptions extends GlobalOptions {
  readonly once: boolean;
  readonly dryRun: boolean;
  readonly force: string | undefined;
  readonly allowRemovals: boolean;
  /** A duration; `undefined`: `confirm.wait`. */
  readonly wait: string | undefined;
  readonly noWait: boolean;
  /** Whether the platform is asked for its quotas, and what the run would add is told beside them. */
  readonly usage: boolean;
  /** Whether the page of the daemon is shown in a browser. */
  readonly open: boolean;
}

/** What `--force` stands for. */
export interface Forced {
  readonly isForced: (path: string) => boolean;
  /** Says so when the pattern matched no file. */
  readonly warnIfUnused: (view: Warned) => void;
}

/** Reads `--force`. Throws `UsageError` for what is no pattern. */
export function forced({ force }: Pick<SyncOptions, 'force'>): Forced {
  if (force === undefined) return { isForced: () => false, warnIfUnused: () => undefined };
  let matches: (path: string) => boolean;
  try {
    matches = compilePattern(force === '' ? '**' : force);
  } catch (error) {
    throw new UsageError(`--force: no pattern: ${(error as Error).message.slice(0, 200)}`);
  }
  let hasMatched = false as boolean;
  return {
    isForced: (path) => {
      const isForced = matches(path.normalize('NFC'));
      hasMatched ||= isForced;
      return isForced;
    },
    warnIfUnused: (view) => {
      if (!hasMatched) view.warn(`--force ${force}: no file matches`);
    },
  };
}

/**
 * How long the end of a single pass waits for the platform's word, milliseconds; `undefined`: as the
 * config says. Throws `UsageError` for what is no duration.
 */
export function waitMsOf({ wait, noWait }: Pick<SyncOptions, 'wait' | 'noWait'>): number | undefined {
  if (noWait) return 0;
  if (wait === undefined) return undefined;
  const duration = readDuration(wait, LONGEST_TIMER_MS);
  const reading = duration.kind === 'ok' ? readTimer(duration.value) : duration;
  if (reading.kind === 'problem') throw new UsageError(`--wait: ${reading.message}`);
  return reading.value;
}

interface Warned {
  readonly warn: (message: string) => void;
}
