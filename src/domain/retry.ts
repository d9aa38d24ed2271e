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
