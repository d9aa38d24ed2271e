import { EXIT } from '../domain/exit-code.ts';

/**
 * How a pass, a plan or a comparison came out:
 * - `in-sync`: all that should be on the platform is there; of a plan: nothing stands in the way of that.
 * - `incomplete`: some files are not in sync, or differ.
 * - `credentials`: the platform refused the credentials, or knows no such bot.
 * - `halted`: a guard halted a source: it is missing, replaced, emptied, or too much of it is gone.
 * - `interrupted`: it was told to stop before it was over.
 */
export type PassOutcome = 'in-sync' | 'incomplete' | 'credentials' | 'halted' | 'interrupted';

/** The outcome behind the exit code of a pass. */
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
