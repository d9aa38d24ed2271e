import { retryDelayMs, retry, type Attempted, type RetryWait } from '../../domain/retry.ts';
import type { Clock } from '../../domain/clock.ts';
import type { OptionalFailure, Outcome } from '../../domain/failure.ts';

/** How the platform is asked what it has. */
export interface AskPorts {
  readonly clock: Clock;
  /** A number in [0, 1): jitter. */
  readonly random: () => number;
  /** An answer is not waited for longer than this, milliseconds. */
  readonly patienceMs: number;
  /** Told that a question is asked again, and when at the soonest. */
  readonly onRetry: (reason: string, delayMs: number) => void;
  /** Breaks off what is asked, and nothing is asked again. */
  readonly stop: AbortSignal;
}

/**
 * Asks until there is an answer, with growing delays after transient failures. What gets no usable answer is asked only once more:
 * time does not help. The question may be asked twice.
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
