import type { Clock } from '../../domain/clock.ts';
import type { PlatformFailure } from '../../domain/failure.ts';
import { retryDelayMs } from '../../domain/retry-delay.ts';
import type { CircuitBreaker, Terms, AttemptOutcome } from '../../upload/circuit-breaker.ts';

/** What repeated attempts need, be it to send a file or to remove one. */
export interface RetryPorts extends Terms {
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly breaker: CircuitBreaker;
  /** Waits for a place among the transfers that may run at a time. */
  readonly transfer: <T>(attempt: () => Promise<T>) => Promise<T>;
  /** Longer than this is not waited for a platform that asked for patience, milliseconds. */
  readonly giveUpAfterMs: number;
  /** Told that another attempt follows, and when at the soonest. */
  readonly onRetry: (reason: string, delayMs: number) => void;
}

/** How an attempt ended. */
export interface Attempted<R> extends AttemptOutcome {
  readonly result: R;
  /** Why another attempt is worthwhile; `null`: it is not. */
  readonly retryReason: string | null;
  /** Instead of the usual delay before it, milliseconds. */
  readonly pauseMs?: number;
}

/**
 * Makes attempts until one needs no other: after failures with growing delays, during an outage when the circuit breaker
 * lets it. Returns what came of the last one; `null`: none was made.
 *
 * @param make - makes one attempt; `null`: there is none to make any more.
 * @param stop - no new attempt is begun once it aborts.
 */
export async function retry<R>(
  make: () => Promise<Attempted<R> | null>,
  ports: RetryPorts,
  stop: AbortSignal,
): Promise<R | null> {
  const { clock, random, breaker, transfer, giveUpAfterMs, onRetry } = ports;
  const errand = breaker.errand(ports);
  for (let last: R | null = null; ;) {
    const attempted = await errand.attempt(transfer, make, stop);
    if (attempted === null) return last;
    last = attempted.result;
    const { retryReason, retryAfterMs = 0, pauseMs } = attempted;
    // A platform that asks for more patience than there is has to be asked again another time.
    if (retryReason === null || errand.isSpent || retryAfterMs > giveUpAfterMs || stop.aborted) return last;
    if (breaker.isOpen) {
      if (!breaker.isHopeless) onRetry(retryReason, breaker.untilProbeMs);
      continue;
    }
    const delayMs = pauseMs ?? retryDelayMs(Math.max(1, errand.failures), random(), retryAfterMs);
    onRetry(retryReason, delayMs);
    await clock.sleep(delayMs, stop);
  }
}

/** What a failure, `null` for a success, says of the platform and of another attempt. */
export function judge(
  failure: PlatformFailure | null,
): AttemptOutcome & { readonly retryReason: string | null } {
  if (failure?.kind !== 'transient') return { met: 'answer', retryReason: null };
  const { message, retryAfterMs, notCarriedOut, answered, postponed } = failure;
  const met =
    answered === true || postponed === true ? 'own' : notCarriedOut === true ? 'unreachable' : 'failure';
  return { met, retryAfterMs, retryReason: message };
}

/** Whether a request was not even sent, since the platform asked for a pause that is too long to wait for. */
export function isPostponed(failure: PlatformFailure): boolean {
  return failure.kind === 'transient' && failure.postponed === true;
}
