import type { Clock } from './clock.ts';

/** How an attempt ended. */
export interface Attempted<R> {
  readonly result: R;
  /** Why another attempt is worthwhile, for people; `null`: it is not. */
  readonly retryReason: string | null;
}

/** How long there is until the next attempt. */
export interface RetryWait {
  readonly delayMs: number;
  /** Whether the attempt itself waits for its moment. */
  readonly isInAttempt?: boolean;
}

/** When attempts follow each other. */
export interface RetryPolicy<A> {
  readonly clock: Clock;
  /** The wait before the next attempt; `null`: there is none. Asked only where another is worthwhile. */
  readonly next: (attempted: A) => RetryWait | null;
  /** Told that another attempt follows, and when at the soonest. */
  readonly onRetry: (reason: string, delayMs: number) => void;
}

/**
 * Makes attempts until one needs no other. Returns what came of the last one; `null`: none was made.
 *
 * @param make - makes one attempt; `null`: there is none to make any more.
 * @param stop - no new attempt is begun once it aborts.
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

/** The delay after the n-th failure in a row (from 1), milliseconds. */
export function backoffMs({ firstMs, longestMs }: Backoff, failures: number): number {
  return Math.min(firstMs * 2 ** (failures - 1), longestMs);
}
const RETRY: Backoff = { firstMs: 500, longestMs: 30_000 };

/**
 * How long to wait after the n-th failed attempt (from 1), in milliseconds: exponential backoff with full jitter,
 * never less than the platform asked for. `random` is a number in [0, 1).
 */
export function retryDelayMs(attempt: number, random: number, askedMs = 0): number {
  return askedMs + random * backoffMs(RETRY, attempt);
}
const PROBE: Backoff = { firstMs: 1000, longestMs: 5000 };

/**
 * How long after the n-th failure of an outage (from 1) the platform is retried, in milliseconds: 1, 2, 4, 5 … s, or
 * down to half of that by chance. `random` is a number in [0, 1).
 */
export function probeDelayMs(failure: number, random: number): number {
  return backoffMs(PROBE, failure) * (0.5 + random / 2);
}
