import { retryDelayMs, retry, type Attempted, type RetryWait } from '../../domain/retry.ts';
import type { Clock } from '../../domain/clock.ts';
import type { OptionalFailure, Outcome } from '../../domain/failure.ts';

export interface AskPorts {
  readonly clock: Clock;
  readonly random: () => number;
  /** No retry begins later than this after the first request, milliseconds. */
  readonly patienceMs: number;
  /** Called before each retry; `delayMs`: its earliest time from now. */
  readonly onRetry: (reason: string, delayMs: number) => void;
  /** Breaks off the request and prevents retries. */
  readonly stop: AbortSignal;
}

/**
 * Repeats a request until it is answered, with growing delays after transient failures. After an unusable answer it
 * retries only once, because time does not help.
 */
export async function ask<T>(
  question: (signal: AbortSignal) => Promise<Outcome<T, OptionalFailure>>,
  { clock, random, patienceMs, onRetry, stop }: AskPorts,
): Promise<Outcome<T, OptionalFailure>> {
  const beganMs = clock.monotonic();
  let asked = 0;
  let unusable = 0;
  const next = ({ retryAfterMs }: Asked<T>): RetryWait | null => {
    if (unusable > 1) return null;
    const delayMs = retryDelayMs(asked, random(), retryAfterMs);
    return clock.monotonic() - beganMs + delayMs <= patienceMs ? { delayMs } : null;
  };
  const askOnce = async (): Promise<Asked<T>> => {
    const result = await question(stop);
    asked += 1;
    if (result.kind === 'ok' || result.failure.kind !== 'transient') return { result, retryReason: null };
    const { message, retryAfterMs } = result.failure;
    if (result.failure.unusable === true) unusable += 1;
    return { result, retryReason: message, retryAfterMs };
  };
  return retry(askOnce, { clock, next, onRetry }, stop);
}

interface Asked<T> extends Attempted<Outcome<T, OptionalFailure>> {
  readonly retryAfterMs?: number | undefined;
}
