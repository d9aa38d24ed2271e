import type { Clock } from '../domain/clock.ts';
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
  readonly result: SendResult;
  readonly isTransientFailure: boolean;
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
  for (let attempt = 1; ;) {
    const attempted = await ports.outage.attempt<Attempted>(async () => {
      const result = await sendFile(task, ports, abort);
      return {
        result,
        isTransientFailure: result.kind === 'failed' && result.failure.kind === 'transient' && !abort.aborted,
      };
    }, stop);
    if (attempted === null) return last;
    last = attempted.result;
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

function reasonToRetry(result: SendResult): string | null {
  if (result.kind === 'unsettled') return 'it was changed while it was read';
  return result.kind === 'failed' && result.failure.kind === 'transient' ? result.failure.message : null;
}
