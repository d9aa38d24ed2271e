import type { Clock } from '../../domain/clock.ts';
import { retryDelayMs } from '../../domain/retry-delay.ts';
import { sendFile, type SendPorts, type SendResult, type SendTask } from '../../upload/send-file.ts';
import type { Outage, Verdict } from '../../upload/outage.ts';

/** How a file's sending ended after as many attempts as it was given. */
export type Sent =
  | SendResult
  /** No attempt was made: an outage or a pause that is not waited for any longer, or a stop. */
  | { readonly kind: 'not-tried' };

/** What repeated sending needs. */
export interface RetryPorts extends SendPorts {
  readonly clock: Clock;
  /** Waits for a place among the transfers that may run at a time. */
  readonly transfer: <T>(attempt: () => Promise<T>) => Promise<T>;
  /** Whether other files found out that this one cannot be sent now. */
  readonly isBlocked: () => boolean;
  /** Told how an attempt ended before the next transfer begins, which it may forbid. */
  readonly onAttempt: (result: SendResult) => void;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly outage: Outage;
  /** Longer than this is not waited for the platform, milliseconds. */
  readonly giveUpAfterMs: number;
  /** Most attempts for a file as it is. */
  readonly attempts: number;
  /** How long a file that was written to while it was read is left alone, milliseconds. */
  readonly settleMs: number;
  readonly onRetry: (task: SendTask, reason: string, delayMs: number) => void;
}

interface Attempted extends Verdict {
  readonly result: Sent;
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
    if (stop.aborted || ports.isBlocked()) return { result: last, met: 'nothing', isOver: true };
    const result = await sendFile(task, ports, abort);
    if (isPostponed(result)) return { result: last, met: 'nothing', isOver: true };
    ports.onAttempt(result);
    const met = abort.aborted ? 'nothing' : whatItMet(result);
    return { result, met, retryAfterMs: askedMs(result), isOver: false };
  };
  for (let attempt = 1; ;) {
    const attempted = await ports.transfer(() => ports.outage.attempt<Attempted>(attemptOnce, stop));
    if (attempted === null) return last;
    last = attempted.result;
    if (attempted.isOver) return last;
    const reason = reasonToRetry(last);
    // During an outage it is not the file that fails.
    if (reason === null || (attempt >= ports.attempts && !ports.outage.isOn)) return last;
    const asked = askedMs(last) ?? 0;
    // A platform that asks for more patience than there is has to be asked again another time.
    if (asked > ports.giveUpAfterMs) return last;
    const delayMs = last.kind === 'unsettled' ? ports.settleMs : retryDelayMs(attempt, ports.random(), asked);
    if (ports.outage.isOn) continue;
    if (stop.aborted) return last;
    attempt += 1;
    ports.onRetry(task, reason, delayMs);
    await ports.clock.sleep(delayMs, stop);
  }
}

function whatItMet(result: SendResult): Verdict['met'] {
  switch (result.kind) {
    case 'sent':
      return 'answer';
    case 'failed':
      return result.failure.kind === 'transient' ? 'failure' : 'answer';
    case 'vanished':
    case 'unreadable':
    case 'inadmissible':
    case 'unsettled':
      return 'nothing';
  }
}

function isPostponed(result: SendResult): boolean {
  return (
    result.kind === 'failed' &&
    !result.upserted &&
    result.failure.kind === 'transient' &&
    result.failure.postponed === true
  );
}

function askedMs(result: Sent): number | undefined {
  return result.kind === 'failed' && result.failure.kind === 'transient'
    ? result.failure.retryAfterMs
    : undefined;
}

function reasonToRetry(result: Sent): string | null {
  if (result.kind === 'unsettled') return 'it was changed while it was read';
  return result.kind === 'failed' && result.failure.kind === 'transient' ? result.failure.message : null;
}
