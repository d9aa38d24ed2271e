import { EXIT } from '../domain/exit-code.ts';
import { askDaemon } from '../service/ask-daemon.ts';
import { UsageError } from './usage-error.ts';

/** What a command has the running daemon do. */
export interface DaemonCommand {
  /** Path and query of the request. */
  readonly target: string;
  /** The daemon answers within so many milliseconds, unless it is stopped or overloaded. */
  readonly patienceMs: number;
  /** What to do where no daemon is running, after "no botsync is running on this state file; ". */
  readonly otherwise: string;
}

/**
 * Has the daemon that runs on a state file do something. Returns its answer, which is JSON. Throws `UsageError` with the exit
 * code of a failed command where no daemon is running, it does not answer, or it is too old or unable to do that.
 */
export async function commandDaemon(
  stateFile: string,
  { target, patienceMs, otherwise }: DaemonCommand,
): Promise<unknown> {
  const answer = await askDaemon(stateFile, 'POST', target, AbortSignal.timeout(patienceMs));
  switch (answer.kind) {
    case 'absent':
      throw new UsageError(`no botsync is running on this state file; ${otherwise}`, EXIT.incomplete);
    case 'failed':
      throw new UsageError(answer.reason, EXIT.incomplete);
    case 'ok':
      break;
  }
  if (answer.status === 404)
    throw new UsageError('the running botsync is an older version; restart it', EXIT.incomplete);
  if (answer.status !== 200)
    throw new UsageError(`the running botsync reports: ${answer.body.trim()}`, EXIT.incomplete);
  return JSON.parse(answer.body);
}
