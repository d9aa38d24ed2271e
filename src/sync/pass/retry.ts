import { retryDelayMs, retry, type Attempted, type RetryWait } from '../../domain/retry.ts';
import type { Clock } from '../../domain/clock.ts';
import type { PlatformFailure } from '../../domain/failure.ts';
import type { WalkContext } from './sync-context.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { guardAttempts, isSpent, type AttemptOutcome, type AttemptTerms } from './failure-attribution.ts';

export interface RetryPorts extends AttemptTerms {
  readonly clock: Clock;
  readonly random: () => number;
  readonly breaker: CircuitBreaker;
  /** Waits for a place among the concurrent transfers. */
  readonly transfer: <T>(attempt: () => Promise<T>) => Promise<T>;
  /** A longer pause that the platform asks for is not waited for, milliseconds. */
  readonly longestPauseMs: number;
  /** Called before each further attempt; `delayMs`: its earliest time from now. */
  readonly onRetry: (reason: string, delayMs: number) => void;
}

/** The result of an attempt to send or remove a file. */
export interface FileAttempt<R> extends Attempted<R>, AttemptOutcome {
  readonly retryReason: string | null;
  /** Replaces the usual delay before the next attempt, milliseconds. */
  readonly pauseMs?: number;
}

/**
 * Repeats attempts until none is needed: after failures with growing delays, during an outage as the circuit breaker
 * allows. Returns the last result; `null`: no attempt was made.
 *
 * @param make - makes one attempt; `null`: none can be made any more.
 * @param stop - no attempt begins once it aborts.
 */
export function retryFile<R>(
  make: () => Promise<FileAttempt<R> | null>,
  ports: RetryPorts,
  stop: AbortSignal,
): Promise<R | null> {
  const { clock, random, breaker, transfer, longestPauseMs } = ports;
  const guarded = guardAttempts(ports);
  const next = ({ retryAfterMs = 0, pauseMs }: FileAttempt<R>): RetryWait | null => {
    if (isSpent(guarded) || retryAfterMs > longestPauseMs || breaker.isHopeless) return null;
    // An attempt that is not made is not announced.
    if (breaker.isOpen && breaker.park(guarded)) return null;
    if (breaker.isOpen) return { delayMs: breaker.untilProbeMs, isInAttempt: true };
    return { delayMs: pauseMs ?? retryDelayMs(Math.max(1, guarded.failures), random(), retryAfterMs) };
  };
  const policy = { clock, next, onRetry: ports.onRetry };
  return retry(() => breaker.attempt(guarded, transfer, make, stop), policy, stop);
}

/** Classifies a failure (`null`: success) for the circuit breaker and for retries. */
export function judge(
  failure: PlatformFailure | null,
): AttemptOutcome & { readonly retryReason: string | null } {
  if (failure?.kind !== 'transient') return { met: 'answer', retryReason: null };
  const { message, retryAfterMs, notCarriedOut, answered, postponed } = failure;
  const met =
    answered === true || postponed === true ? 'own' : notCarriedOut === true ? 'unreachable' : 'failure';
  return { met, retryAfterMs, retryReason: message };
}

/** Returns whether a request was not sent, because the pause that the platform asked for is too long. */
export function isPostponed(failure: PlatformFailure): boolean {
  return failure.kind === 'transient' && failure.postponed === true;
}

/** Returns the ports of repeated attempts for one path. `sizeBytes`: of the content that is sent. */
export function retryPorts(
  source: string,
  path: string,
  sizeBytes: number,
  context: WalkContext,
): RetryPorts {
  const { clock, random, breaker, transfer, fresh, isWatched, config, waitLimits, emit } = context;
  return {
    clock,
    random,
    breaker,
    transfer: (attempt) => transfer(attempt, sizeBytes),
    name: `${source}:${path}`,
    isFresh: isWatched && transfer === fresh,
    waitsForOutage: () => true,
    attempts: config.upload.attempts,
    longestPauseMs: waitLimits.pauseMs,
    onRetry: (reason, delayMs) => {
      emit({ kind: 'retrying', path: `${source}/${path}`, reason, delayMs });
    },
  };
}
