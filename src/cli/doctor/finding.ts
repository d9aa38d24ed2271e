import { EXIT } from '../../domain/exit-code.ts';
import { shown } from '../render/output.ts';

/** What one look at the installation found: an element of what `botsync doctor --json` prints. */
export interface Finding {
  /** What was looked at: one word. */
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly message: string;
  /** What to do about it; `null` when nothing is to be done. */
  readonly fix: string | null;
}

/** A finding with the exit code that it alone would give: 0, 3 or 4. */
export interface Diagnosis {
  readonly finding: Finding;
  readonly exitCode: number;
}

/** All is as it should be. */
export function fine(check: string, message: string): Diagnosis {
  return { finding: { check, status: 'ok', message, fix: null }, exitCode: EXIT.ok };
}

/** Works, but is probably not meant, or will not work for long. */
export function doubtful(check: string, message: string, fix: string | null): Diagnosis {
  return { finding: { check, status: 'warn', message, fix }, exitCode: EXIT.ok };
}

/** Does not work. `exitCode`: 4 for credentials that the platform refused. */
export function broken(
  check: string,
  message: string,
  fix: string | null,
  exitCode: number = EXIT.incomplete,
): Diagnosis {
  return { finding: { check, status: 'fail', message, fix }, exitCode };
}

/** The exit code of all together: 4 before 3 before 0. */
export function worst(diagnoses: readonly Diagnosis[]): number {
  return Math.max(EXIT.ok, ...diagnoses.map(({ exitCode }) => exitCode));
}

/** A finding as one line. */
export function renderFinding({ check, status, message, fix }: Finding): string {
  const text = fix === null ? message : `${message}; ${fix}`;
  return `${status.padEnd(5)} ${check.padEnd(12)} ${shown(text)}`;
}
