import { retryDelayMs, retry, type Attempted, type RetryWait } from '../../domain/retry.ts';
import type { Clock } from '../../domain/clock.ts';
import type { PlatformFailure } from '../../domain/failure.ts';
import type { AttemptOutcome, AttemptTerms, CircuitBreaker } from './circuit-breaker.ts';

/** What repeated attempts need, be it to send a file or to remove one. */
export interface RetryPorts extends AttemptTerms {
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly breaker: CircuitBreaker;
  /** Waits for a place among the transfers that may run at a time. */
  readonly transfer: <T>(attempt: () => Promise<T>) => Promise<T>;
  /** A platform that asks for a longer pause than this is asked again another time, milliseconds. */
  readonly longestPauseMs: number;
  /** Told that another attempt follows, and when at the soonest. */
  readonly onRetry: (reason: string, delayMs: number) => void;
}

/** How an attempt to send or remove a file ended. */
export interface FileAttempt<R> extends Attempted<R>, AttemptOutcome {
  readonly retryReason: string | null;
  /** Instead of the usual delay before the next, milliseconds. */
  readonly pauseMs?: number;
}

/**
 * Makes attempts until one needs no other: after failures with growing delays, during an outage when the circuit breaker
 * lets it. Returns what came of the last one; `null`: none was made.
 *
 * @param make - makes one attempt; `null`: there is none to make any more.
 * @param stop - no new attempt is begun once it aborts.
 */
export function retryFile<R>(
  make: () => Promise<FileAttempt<R> | null>,
  ports: RetryPorts,
  stop: AbortSignal,
): Promise<R | null> {
  const { clock, random, breaker, transfer, longestPauseMs } = ports;
  const guarded = breaker.guard(ports);
  const next = ({ retryAfterMs = 0, pauseMs }: FileAttempt<R>): RetryWait | null => {
    if (guarded.isSpent || retryAfterMs > longestPauseMs || breaker.isHopeless) return null;
    // Nobody is told of an attempt that is not made.
    if (breaker.isOpen && guarded.park()) return null;
    if (breaker.isOpen) return { delayMs: breaker.untilProbeMs, isInAttempt: true };
    return { delayMs: pauseMs ?? retryDelayMs(Math.max(1, guarded.failures), random(), retryAfterMs) };
  };
  const policy = { clock, next, onRetry: ports.onRetry };
  return retry(() => guarded.attempt(transfer, make, stop), policy, stop);
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
