import type { Clock } from './clock.ts';

export interface Attempted<R> {
  readonly result: R;
  /** Why another attempt is worthwhile, for people; `null`: it is not. */
  readonly retryReason: string | null;
}

export interface RetryWait {
  readonly delayMs: number;
  /** The attempt itself waits until it is due. */
  readonly isInAttempt?: boolean;
}

export interface RetryPolicy<A> {
  readonly clock: Clock;
  /** Returns the wait before the next attempt; `null`: there is none. Called only where another attempt is worthwhile. */
  readonly next: (attempted: A) => RetryWait | null;
  /** Called before each further attempt, with the shortest delay. */
  readonly onRetry: (reason: string, delayMs: number) => void;
}

/**
 * Makes attempts until no further one is needed. Returns the last result; `null`: no attempt was made.
 *
 * @param make - makes one attempt; `null`: there is nothing left to attempt.
 * @param stop - no new attempt starts once it aborts.
 */
export async function retry<R, A extends Attempted<R>>(
  make: () => Promise<A>,
  policy: RetryPolicy<A>,
  stop: AbortSignal,
): Promise<R>;
export async function retry<R, A extends Attempted<R>>(
  make: () => Promise<A | null>,
  policy: RetryPolicy<A>,
  stop: AbortSignal,
): Promise<R | null>;
export async function retry<R, A extends Attempted<R>>(
  make: () => Promise<A | null>,
  { clock, next, onRetry }: RetryPolicy<A>,
  stop: AbortSignal,
): Promise<R | null> {
  for (let last: R | null = null; ;) {
    const attempted = await make();
    if (attempted === null) return last;
    last = attempted.result;
    const { retryReason } = attempted;
    const wait = retryReason === null || stop.aborted ? null : next(attempted);
    if (retryReason === null || wait === null) return last;
    onRetry(retryReason, wait.delayMs);
    if (wait.isInAttempt !== true) await clock.sleep(wait.delayMs, stop);
  }
}

/** A delay that doubles with every failure, milliseconds. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Returns the delay after the n-th failure in a row (from 1), milliseconds. */
export function backoffMs({ firstMs, longestMs }: Backoff, failures: number): number {
  return Math.min(firstMs * 2 ** (failures - 1), longestMs);
}
const RETRY: Backoff = { firstMs: 500, longestMs: 30_000 };

/**
 * Returns the delay after the n-th failed attempt (from 1), milliseconds: exponential backoff with full jitter, never less than
 * the platform asked for. `random` is a number in [0, 1).
 */
export function retryDelayMs(attempt: number, random: number, askedMs = 0): number {
  return askedMs + random * backoffMs(RETRY, attempt);
}
const PROBE: Backoff = { firstMs: 1000, longestMs: 5000 };

/**
 * Returns the delay after the n-th failure of an outage (from 1), milliseconds: 1, 2, 4, 5 … s, reduced at random by up to half.
 * `random` is a number in [0, 1).
 */
export function probeDelayMs(failure: number, random: number): number {
  return backoffMs(PROBE, failure) * (0.5 + random / 2);
}
