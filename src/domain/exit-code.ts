import type { Summary } from './report.ts';

/** Exit codes: a promise to scripts (README.md). */
export const EXIT = {
  ok: 0,
  defect: 1,
  usage: 2,
  incomplete: 3,
  credentials: 4,
  halted: 5,
  busy: 6,
  interrupted: 130,
} as const;

/** Order of precedence for several passes: the first of these that occurs. */
const WORST_FIRST: readonly number[] = [
  EXIT.interrupted,
  EXIT.credentials,
  EXIT.halted,
  EXIT.incomplete,
  EXIT.ok,
];

export function worstOf(exitCodes: readonly number[]): number {
  return WORST_FIRST.find((code) => exitCodes.includes(code)) ?? EXIT.ok;
}

export interface PassTroubles {
  readonly interrupted: boolean;
  readonly credentials: boolean;
  readonly halted: boolean;
}

/** Returns the exit code of a pass. Where several apply, in this order: 130, 4, 5, 3, 0. */
export function exitCodeOf(summary: Summary, troubles: PassTroubles): number {
  if (troubles.interrupted) return EXIT.interrupted;
  if (troubles.credentials) return EXIT.credentials;
  if (troubles.halted) return EXIT.halted;
  const { refused, failed, problems, pending } = summary;
  return refused + failed + problems + pending > 0 ? EXIT.incomplete : EXIT.ok;
}
