import type { Clock } from '../domain/clock.ts';
import type { PlatformFailure } from '../domain/failure.ts';
import { retryDelayMs } from '../domain/retry-delay.ts';
import { sendFile, type SendPorts, type SendResult, type SendTask } from '../upload/send-file.ts';
import type { Outage } from '../upload/outage.ts';

/** How a file's sending ended after as many attempts as it was given. */
export type Sent =
  | SendResult
  /** No attempt was made: an outage that was waited for long enough, or a stop. */
  | { readonly kind: 'not-tried' };

/** What repeated sending needs. */
export interface RetryPorts extends SendPorts {
  readonly clock: Clock;
  /** Waits for a place among the transfers that may run at a time. */
  readonly transfer: <T>(attempt: () => Promise<T>) => Promise<T>;
  /** Whether other files found out that this one cannot be sent now. */
  readonly isBlocked: () => boolean;
  /** Told of a failure before the next transfer begins, which it may forbid. */
  readonly onFailure: (failure: PlatformFailure) => void;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly outage: Outage;
  /** Most attempts for a file as it is. */
  readonly attempts: number;
  /** How long a file that was written to while it was read is left alone, milliseconds. */
  readonly settleMs: number;
  readonly onRetry: (task: SendTask, reason: string, delayMs: number) => void;
}

interface Attempted {
  readonly result: Sent;
  readonly isTransientFailure: boolean;
  /** No attempt was made, nor will be. */
  readonly isOver: boolean;
}

/**
 * Sends a file, again after transient failures and when it changed under our hands.
 *
 * @param stop - no new attempt is begun once it aborts.
 * @param abort - breaks off the attempt under way.
 */
export async function sendWithRetries(
  task: SendTask,
  ports: RetryPorts,
  stop: AbortSignal,
  abort: AbortSignal,
): Promise<Sent> {
  let last: Sent = { kind: 'not-tried' };
  const attemptOnce = async (): Promise<Attempted> => {
    if (stop.aborted || ports.isBlocked()) return { result: last, isTransientFailure: false, isOver: true };
    const result = await sendFile(task, ports, abort);
    if (result.kind === 'failed') ports.onFailure(result.failure);
    const isTransientFailure =
      result.kind === 'failed' && result.failure.kind === 'transient' && !abort.aborted;
    return { result, isTransientFailure, isOver: false };
  };
  for (let attempt = 1; ;) {
    const attempted = await ports.transfer(() => ports.outage.attempt<Attempted>(attemptOnce, stop));
    if (attempted === null) return last;
    last = attempted.result;
    if (attempted.isOver) return last;
    const reason = reasonToRetry(last);
    // During an outage it is not the file that fails.
    if (reason === null || (attempt >= ports.attempts && !ports.outage.isOn)) return last;
    const askedMs =
      last.kind === 'failed' && last.failure.kind === 'transient' ? last.failure.retryAfterMs : undefined;
    const delayMs =
      last.kind === 'unsettled' ? ports.settleMs : retryDelayMs(attempt, ports.random(), askedMs);
    if (ports.outage.isOn) continue;
    attempt += 1;
    ports.onRetry(task, reason, delayMs);
    await ports.clock.sleep(delayMs, stop);
  }
}

function reasonToRetry(result: Sent): string | null {
  if (result.kind === 'unsettled') return 'it was changed while it was read';
  return result.kind === 'failed' && result.failure.kind === 'transient' ? result.failure.message : null;
}
