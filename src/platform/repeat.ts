import type { Clock } from '../domain/clock.ts';
import type { LookupFailure, Outcome } from '../domain/failure.ts';
import { retryDelayMs } from '../domain/retry-delay.ts';

/** How requests are repeated. */
export interface RepeatSettings {
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
export type Repeatable = 'any' | 'not-carried-out';

/** Asks until there is an answer, with full jitter between the attempts. The signal ends the waiting. */
export async function withRepeats<T>(
  ask: () => Promise<Outcome<T, LookupFailure>>,
  repeatable: Repeatable,
  { attempts, giveUpAfterMs, random, onRetry }: RepeatSettings,
  clock: Clock,
  signal: AbortSignal,
): Promise<Outcome<T, LookupFailure>> {
  const begunMs = clock.monotonic();
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await ask();
    if (outcome.kind === 'ok' || signal.aborted || attempt >= attempts) return outcome;
    const { failure } = outcome;
    if (failure.kind !== 'transient') return outcome;
    if (repeatable === 'not-carried-out' && failure.notCarriedOut !== true) return outcome;
    const delayMs = retryDelayMs(attempt, random(), failure.retryAfterMs);
    if (clock.monotonic() - begunMs + delayMs > giveUpAfterMs) return outcome;
    onRetry(failure.message, delayMs);
    await clock.sleep(delayMs, signal);
  }
}
