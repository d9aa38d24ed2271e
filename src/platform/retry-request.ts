import type { Clock } from '../domain/clock.ts';
import type { OptionalFailure, Outcome } from '../domain/failure.ts';
import { retryDelayMs } from '../domain/backoff.ts';
import { retry, type Attempted, type RetryWait } from '../domain/retry.ts';

/** How requests are repeated. */
export interface RequestRetries {
  /** Most attempts in all. */
  readonly attempts: number;
  /** Longer than this is not waited for the platform, milliseconds. */
  readonly giveUpAfterMs: number;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly onRetry: (reason: string, delayMs: number) => void;
}

/**
 * Which failures call for another attempt: `any` transient one for what may be asked twice; `not-carried-out` only those
 * that certainly had no effect, for what must not be done twice.
 */
export type RetryWhen = 'any' | 'not-carried-out';

/** Asks until there is an answer, with full jitter between the attempts. The signal ends the waiting. */
export async function retryRequest<T, F extends OptionalFailure>(
  ask: () => Promise<Outcome<T, F>>,
  repeatable: RetryWhen,
  { attempts, giveUpAfterMs, random, onRetry }: RequestRetries,
  clock: Clock,
  signal: AbortSignal,
): Promise<Outcome<T, F>> {
  const beganMs = clock.monotonic();
  let made = 0;
  const next = ({ retryAfterMs }: Asked<T, F>): RetryWait | null => {
    const delayMs = retryDelayMs(made, random(), retryAfterMs);
    return made < attempts && clock.monotonic() - beganMs + delayMs <= giveUpAfterMs ? { delayMs } : null;
  };
  const askOnce = async (): Promise<Asked<T, F>> => {
    const result = await ask();
    made += 1;
    const failed: OptionalFailure | null = result.kind === 'failed' ? result.failure : null;
    const failure = failed?.kind === 'transient' ? failed : null;
    const mayRepeat = repeatable === 'any' || failure?.notCarriedOut === true;
    return {
      result,
      retryReason: failure !== null && mayRepeat ? failure.message : null,
      retryAfterMs: failure?.retryAfterMs,
    };
  };
  return retry(askOnce, { clock, next, onRetry }, signal);
}

interface Asked<T, F> extends Attempted<Outcome<T, F>> {
  readonly retryAfterMs: number | undefined;
}
