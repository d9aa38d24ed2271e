import { EXIT } from '../domain/exit-code.ts';
import type { PassOutcome } from '../library/pass-outcome.ts';

/** What each outcome ends a command with (README.md). */
const EXIT_CODES: Readonly<Record<PassOutcome, number>> = {
  'in-sync': EXIT.ok,
  incomplete: EXIT.incomplete,
  credentials: EXIT.credentials,
  halted: EXIT.halted,
  interrupted: EXIT.interrupted,
};

/** The exit code of a command whose pass, plan or comparison came out so. */
export function exitCodeOf(outcome: PassOutcome): number {
  return EXIT_CODES[outcome];
}
