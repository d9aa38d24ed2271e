import type { FileEvent } from '../domain/report.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { EXIT, worstOf } from '../domain/exit-code.ts';
import { systemClock } from '../service/system-clock.ts';
import { Listings } from '../sync/catalog/list-adoptable.ts';
import { Claims } from '../sync/plan/claims.ts';
import { dryRun } from '../sync/plan/dry-run.ts';
import { findSources } from '../sync/sources/source.ts';
import type { PlanOptions, PlanResult } from './api.ts';
import { listForPlan } from './list-for-plan.ts';
import { platformName } from './load.ts';
import type { RunBase } from './run-base.ts';
import { passOutcomeOf } from './pass-outcome.ts';
import { noticesIn, withPlatform } from './platform/platform-access.ts';
import { withRecords } from './read-records.ts';
import type { Stop } from './stop.ts';
import { tellUsage } from './usage.ts';

/** Reports what a pass would do, also while another process writes the state file. Throws `SyncError`. */
export async function planPass(
  base: RunBase,
  loaded: LoadedConfig,
  { isForced = () => false, usage = false }: PlanOptions,
  { stop }: Stop,
): Promise<PlanResult> {
  const { target, env, log, feed } = base;
  const { config } = loaded;
  const name = platformName(target, config);
  return await withRecords({ loaded, platformName: name, env }, async ({ reader }) => {
    const sources = findSources(config, name);
    const claims = new Claims(reader, sources);
    const { now } = systemClock;
    const aheadMs = reader.platformAheadMs();
    const platformNow = (): number => now() + aheadMs;
    // A plan does not touch the emulator's data.
    const { listings, refused } = target.emulator
      ? { listings: new Listings(), refused: [] }
      : await listForPlan(base, loaded, sources, reader, stop);
    try {
      const input = { config, sources, state: reader, claims, platformNow, now, isForced, listings };
      const planned = (file: FileEvent): void => {
        feed.emit({ kind: 'planned', file });
      };
      const { summary, exitCode, additions, unmatched } = await dryRun(input, systemClock, planned, stop);
      if (usage && !stop.aborted) {
        const notices = noticesIn(log);
        const run = {
          loaded,
          useEmulator: target.emulator,
          env,
          command: 'sync',
          clock: systemClock,
          notices,
        };
        await withPlatform(run, ({ clients }) => tellUsage(clients.usage(), additions, feed, stop));
      }
      const worst = refused.length > 0 ? worstOf([exitCode, EXIT.credentials]) : exitCode;
      const outcome = stop.aborted ? 'interrupted' : passOutcomeOf(worst);
      return { outcome, summary, additions, unmatched, refused };
    } finally {
      listings.close();
    }
  });
}
