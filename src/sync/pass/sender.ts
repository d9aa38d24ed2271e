import { sendFile, type SendPorts, type SendResult, type SendTask } from './send-file.ts';
import { isPostponed, judge, retryFile, type FileAttempt, type RetryPorts } from './retry.ts';

/** How a file's sending ended after as many attempts as it was given. */
export type Sent =
  | SendResult
  /** No attempt was made: an outage or a pause that is not waited for any longer, or a stop. */
  | { readonly kind: 'not-tried' };

/** What repeated sending needs. */
export interface SenderPorts extends SendPorts, RetryPorts {
  /** Whether other files found out that this one cannot be sent now. */
  readonly isBlocked: () => boolean;
  /** Told how an attempt ended before the next transfer begins, which it may forbid. */
  readonly onAttempt: (result: SendResult) => void;
  /** How long a file that was written to while it was read is left alone, milliseconds. */
  readonly settleMs: number;
}

/**
 * Sends a file, again after transient failures and when it changed under our hands.
 *
 * @param stop - no new attempt is begun once it aborts.
 * @param abort - breaks off the attempt under way.
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
