import { sendFile, type SendPorts, type SendResult, type SendTask } from './send-file.ts';
import { isPostponed, judge, retryFile, type FileAttempt, type RetryPorts } from './retry.ts';

/** The result of sending a file, after all attempts. */
export type Sent =
  | SendResult
  /** No attempt was made: an outage or pause was too long to wait for, or a stop. */
  | { readonly kind: 'not-tried' };

export interface SenderPorts extends SendPorts, RetryPorts {
  /** Returns whether other files have shown that this one cannot be sent now. */
  readonly isBlocked: () => boolean;
  /** Called after each attempt, before the next transfer begins. */
  readonly onAttempt: (result: SendResult) => void;
  /** The pause before a file is read again that was written while it was read, milliseconds. */
  readonly settleMs: number;
}

/**
 * Sends a file. Retries after transient failures, and if it changed while it was read.
 *
 * @param stop - no attempt begins once it aborts.
 * @param abort - breaks off the running attempt.
 */
export async function sendWithRetries(
  task: SendTask,
  ports: SenderPorts,
  stop: AbortSignal,
  abort: AbortSignal,
): Promise<Sent> {
  const attemptOnce = async (): Promise<FileAttempt<SendResult> | null> => {
    if (stop.aborted || ports.isBlocked()) return null;
    const result = await sendFile(task, ports, abort);
    if (result.kind === 'failed' && !result.upserted && isPostponed(result.failure)) return null;
    ports.onAttempt(result);
    if (abort.aborted) return { result, met: 'nothing', retryReason: null };
    return { result, ...judgeResult(result, ports.settleMs) };
  };
  return (await retryFile(attemptOnce, ports, stop)) ?? { kind: 'not-tried' };
}

function judgeResult(result: SendResult, settleMs: number): Omit<FileAttempt<SendResult>, 'result'> {
  switch (result.kind) {
    case 'sent':
      return judge(null);
    case 'failed':
      return judge(result.failure);
    case 'unsettled':
      return { met: 'own', retryReason: 'it was changed while it was read', pauseMs: settleMs };
    case 'vanished':
    case 'unreadable':
    case 'inadmissible':
      return { met: 'nothing', retryReason: null };
  }
}
