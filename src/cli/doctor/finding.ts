import type { LoadedConfig } from '../../config/load-config.ts';
import { EXIT } from '../../domain/exit-code.ts';
import type { LookupFailure } from '../../domain/failure.ts';
import type { Records } from '../../run/read-state-file.ts';
import { SyncError } from '../../run/sync-error.ts';
import type { GlobalOptions } from '../global-options.ts';
import type { Session } from '../session.ts';
import { shown } from '../render/output.ts';

/** The input of the checks. */
export interface Examination {
  readonly loaded: LoadedConfig;
  readonly options: GlobalOptions;
  /** The platform's name in the records. */
  readonly platformName: string;
  readonly session: Session;
  readonly records: Records;
}

/** A result of a check; `botsync doctor --json` prints these. */
export interface Finding {
  /** The name of the check, one word. */
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly message: string;
  /** `null` if nothing needs to be done. */
  readonly fix: string | null;
}

/** A finding with its exit code: 0, 3 or 4. */
export interface Diagnosis {
  readonly finding: Finding;
  readonly exitCode: number;
}

export function fine(check: string, message: string): Diagnosis {
  return { finding: { check, status: 'ok', message, fix: null }, exitCode: EXIT.ok };
}

/** A finding that works, but probably not as intended, or not for long. */
export function doubtful(check: string, message: string, fix: string | null): Diagnosis {
  return { finding: { check, status: 'warn', message, fix }, exitCode: EXIT.ok };
}

/** `exitCode`: 4 for credentials that the platform refused. */
export function broken(
  check: string,
  message: string,
  fix: string | null,
  exitCode: number = EXIT.incomplete,
): Diagnosis {
  return { finding: { check, status: 'fail', message, fix }, exitCode };
}

/** Reports a failed request. `fixes`: by kind of failure. */
export function refusal(
  check: string,
  what: string,
  { kind, message }: LookupFailure,
  fixes: Readonly<Partial<Record<LookupFailure['kind'], string>>>,
): Diagnosis {
  const exitCode = kind === 'credentials' ? EXIT.credentials : EXIT.incomplete;
  return broken(check, `${what}: ${message}`, fixes[kind] ?? null, exitCode);
}

/** Reports a `SyncError` as the finding of a check. */
export async function orFinding(check: string, find: () => Promise<Diagnosis[]>): Promise<Diagnosis[]> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    return [broken(check, error.message, null)];
  }
}

/** Returns the common exit code: 4 before 3 before 0. */
export function worst(diagnoses: readonly Diagnosis[]): number {
  return Math.max(EXIT.ok, ...diagnoses.map(({ exitCode }) => exitCode));
}

export function renderFinding({ check, status, message, fix }: Finding): string {
  const text = fix === null ? message : `${message}; ${fix}`;
  return `${status.padEnd(5)} ${check.padEnd(12)} ${shown(text)}`;
}
