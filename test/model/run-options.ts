import type { CommandsContraints, Parameters } from 'fast-check';
import { SEED } from '../seed.ts';

/** How many runs, and which: by environment variables that `npm run test:model` sets from its options. */
export interface RunOptions {
  readonly seed: number;
  /** Runs; `null`: as many as a test makes of its own accord. */
  readonly runs: number | null;
  readonly path: string | null;
  /** Of a failing run that fast-check made smaller. */
  readonly replayPath: string | null;
}

/** The options of this process. */
export function readRunOptions(env: NodeJS.ProcessEnv = process.env): RunOptions {
  return {
    seed: SEED,
    runs: env['MODEL_RUNS'] === undefined ? null : Number(env['MODEL_RUNS']),
    path: env['MODEL_PATH'] ?? null,
    replayPath: env['MODEL_REPLAY_PATH'] ?? null,
  };
}

/** How the commands of a run are drawn. */
export function commandOptions(options: RunOptions, maxCommands: number): CommandsContraints {
  return {
    size: '+1',
    maxCommands,
    ...(options.replayPath !== null && { replayPath: options.replayPath }),
  };
}

/** Returns the parameters of fast-check. No time limit decides how many runs there are: one run under load would exceed it. */
export function checkParameters<T>(options: RunOptions, gateRuns: number): Parameters<T> {
  return {
    seed: options.seed,
    numRuns: options.runs ?? gateRuns,
    // The run that failed, and no other.
    ...(options.path !== null && { path: options.path, endOnFailure: true, numRuns: 1 }),
  };
}
