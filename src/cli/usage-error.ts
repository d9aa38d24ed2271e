import { EXIT } from '../domain/exit-code.ts';
import { partsOf, SyncError, type SyncErrorCode } from '../library/sync-error.ts';

/** What each kind of error ends a command with (README.md). */
const EXIT_CODES: Readonly<Record<SyncErrorCode, number>> = {
  usage: EXIT.usage,
  configuration: EXIT.usage,
  'state-file': EXIT.usage,
  'state-file-failed': EXIT.incomplete,
  busy: EXIT.busy,
  credentials: EXIT.credentials,
  platform: EXIT.incomplete,
  'not-served': EXIT.incomplete,
  cluster: EXIT.incomplete,
  interrupted: EXIT.interrupted,
};

/** Something about a command that the user can fix. Its message is all that is shown: it names the place, the reason and the fix. */
export class UsageError extends SyncError {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.usage) {
    super(codeOf(exitCode), { ...partsOf(message), message });
    this.name = 'UsageError';
    this.exitCode = exitCode;
  }
}

/** What an error ends a command with. */
export function exitCodeOfError(error: SyncError): number {
  return error instanceof UsageError ? error.exitCode : EXIT_CODES[error.code];
}

function codeOf(exitCode: number): SyncErrorCode {
  const codes: Readonly<Partial<Record<number, SyncErrorCode>>> = {
    [EXIT.incomplete]: 'platform',
    [EXIT.credentials]: 'credentials',
    [EXIT.busy]: 'busy',
    [EXIT.interrupted]: 'interrupted',
  };
  return codes[exitCode] ?? 'usage';
}
