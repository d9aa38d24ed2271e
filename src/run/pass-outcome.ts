import { EXIT } from '../domain/exit-code.ts';

/**
 * The outcome of a pass, a plan or a comparison:
 * - `in-sync`: everything that should be on the platform is there; for a plan: nothing would prevent that.
 * - `incomplete`: some files are not in sync, or differ.
 * - `credentials`: the platform refused the credentials, or does not know the bot.
 * - `halted`: a guard halted a source: it is missing, replaced or emptied, or too many of its files were deleted.
 * - `interrupted`: it was stopped before its end.
 */
export type PassOutcome = 'in-sync' | 'incomplete' | 'credentials' | 'halted' | 'interrupted';

/** Returns the outcome for the exit code of a pass. */
export function passOutcomeOf(exitCode: number): PassOutcome {
  switch (exitCode) {
    case EXIT.ok:
      return 'in-sync';
    case EXIT.credentials:
      return 'credentials';
    case EXIT.halted:
      return 'halted';
    case EXIT.interrupted:
      return 'interrupted';
    default:
      return 'incomplete';
  }
}

/** Exit codes of commands (README.md). */
const EXIT_CODES: Readonly<Record<PassOutcome, number>> = {
  'in-sync': EXIT.ok,
  incomplete: EXIT.incomplete,
  credentials: EXIT.credentials,
  halted: EXIT.halted,
  interrupted: EXIT.interrupted,
};

/** Returns the exit code of a command for an outcome. */
export function exitCodeOf(outcome: PassOutcome): number {
  return EXIT_CODES[outcome];
}
