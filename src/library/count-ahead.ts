import type { Config } from '../config/config.ts';
import { systemClock } from '../service/system-clock.ts';
import type { StateStore } from '../state/state-store.ts';
import { Claims } from '../sync/plan/claims.ts';
import { estimate, type Estimate } from '../sync/plan/estimate.ts';
import { findSources } from '../sync/sources/source.ts';

/** What is counted. */
export interface CountInput {
  readonly config: Config;
  /** What the platform is called in records. */
  readonly platformName: string;
  readonly state: StateStore;
  /** The platform's time, epoch milliseconds. */
  readonly platformNow: () => number;
  readonly isForced: (path: string) => boolean;
  /** Receives the number of files checked so far. */
  readonly seen: (files: number) => void;
}

/** What a pass that begins now will send; `null`: somebody ended the count. Throws `StateFileError`. */
export async function countAhead(
  { config, platformName, state, platformNow, isForced, seen }: CountInput,
  ended: AbortSignal,
): Promise<Estimate | null> {
  const sources = findSources(config, platformName);
  const claims = new Claims(state, sources);
  const input = { config, sources, state, claims, platformNow, now: systemClock.now, isForced };
  return await estimate(input, systemClock, ended, seen);
}
