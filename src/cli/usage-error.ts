import type { Reading } from '../config/problem.ts';
import { EXIT } from '../domain/exit-code.ts';
import { partsOf, SyncError, type SyncErrorCode } from '../run/sync-error.ts';

/** The exit code of each kind of error (README.md). */
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

/** An error that the user can fix. Only its message is shown: it names the place, the reason and the fix. */
export class UsageError extends SyncError {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.usage) {
    super(codeOf(exitCode), { ...partsOf(message), message });
    this.name = 'UsageError';
    this.exitCode = exitCode;
  }
}

/** Returns the value of a reading. Throws `UsageError`. `place`: the option or argument. */
export function demand<T>(place: string, reading: Reading<T>): T {
  if (reading.kind === 'problem') throw new UsageError(`${place}: ${reading.message}`);
  return reading.value;
}

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
