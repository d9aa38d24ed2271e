import { createDice, type Dice } from '../cli/churn.ts';
import { SEED } from '../seed.ts';

/** Kills in a round, which is a test of its own with its own site. */
export const KILLS_A_ROUND = 12;

/** One round: `npm run test:crash -- --seed S --round R` makes it again, but for what hangs on time. */
export interface Round {
  readonly seed: number;
  readonly number: number;
  /** For people. */
  readonly name: string;
}

/** What is to be run: by environment variables that `npm run test:crash` sets from its options. */
export interface RunOptions {
  readonly rounds: readonly Round[];
  /** Whether so much is run that every point must be reached. */
  readonly isFull: boolean;
  /** Whether it is the gate that runs them. */
  readonly isGate: boolean;
}

/**
 * The options of this process.
 *
 * @param rounds - in the gate, and as many as reach every point.
 * @param share - of the kills of a long run.
 */
export function readRunOptions(
  { gate, full }: { readonly gate: number; readonly full: number },
  share: number,
  env = process.env,
): RunOptions {
  const { CRASH_KILLS: kills, CRASH_ROUND: only } = env;
  const count = kills === undefined ? gate : Math.ceil((Number(kills) * share) / KILLS_A_ROUND);
  const numbers = only === undefined ? Array.from({ length: count }, (_, number) => number) : [Number(only)];
  return {
    rounds: numbers.map((number) => ({ seed: SEED, number, name: `seed ${SEED}, round ${number}` })),
    isGate: kills === undefined && only === undefined,
    isFull: only === undefined && count >= full,
  };
}

/** The dice of a round, whatever other rounds are run. */
export function diceOf({ seed, number }: Round): Dice {
  return createDice(seed + number * 7919);
}
