import type { LoadedConfig } from '../../config/load-config.ts';
import { renderProblem } from '../../config/problem.ts';
import { keepHeapSmall } from '../../service/heap.ts';
import { systemClock } from '../../service/system-clock.ts';
import { Claims } from '../../sync/plan/claims.ts';
import { dryRun } from '../../sync/plan/dry-run.ts';
import { Listings } from '../../sync/catalog/listings.ts';
import { findSources } from '../../sync/sources/source.ts';
import { listForPlan } from '../../library/list-for-plan.ts';
import { load, platformName } from '../../library/load.ts';
import { noticesIn } from '../../library/platform/platform-access.ts';
import { syncOnce } from '../../library/once/once-run.ts';
import { PassView } from '../render/pass-view.ts';
import { withStateFile } from '../../library/read-state-file.ts';
import { runSession } from '../session.ts';
import { demandForcedFile } from '../demand-forced-file.ts';
import { forced, type SyncOptions } from '../sync-options.ts';
import { tellUsage } from '../usage.ts';

/** `botsync sync`: the daemon, one pass, or what one would do. Returns the exit code; throws `UsageError`. */
export async function sync(options: SyncOptions): Promise<number> {
  keepHeapSmall();
  if (!options.once && !options.dryRun) {
    const { syncDaemon } = await import('./sync-daemon.ts');
    return await syncDaemon(options);
  }
  const loaded = load(options);
  const view = new PassView(options);
  for (const warning of loaded.warnings) view.warn(renderProblem(warning));
  await demandForcedFile(options, loaded.config);
  if (options.dryRun) return await showPlan(options, loaded, view);
  return await syncOnce(options, loaded, view);
}

async function showPlan(options: SyncOptions, loaded: LoadedConfig, view: PassView): Promise<number> {
  const { config } = loaded;
  return await withStateFile(config.stateFile, async ({ reader }) => {
    const sources = findSources(config, platformName(options, config));
    const claims = new Claims(reader, sources);
    const { isForced, warnIfUnused } = forced(options);
    const { now } = systemClock;
    const aheadMs = reader.platformAheadMs();
    const platformNow = (): number => now() + aheadMs;
    // The emulator's data is not touched by a plan.
    const listings = options.emulator ? new Listings() : await listForPlan(loaded, sources, reader, view);
    const input = { config, sources, state: reader, claims, platformNow, now, isForced, listings };
    const { summary, exitCode, additions, unmatched } = await dryRun(input, systemClock, (event) => {
      view.planned(event);
    });
    listings.close();
    warnIfUnused(view);
    for (const { field, message, hint } of unmatched) view.warn(`${field} ${message}; ${hint}`);
    const endsWith = options.usage
      ? await runSession(loaded, options.emulator, 'sync', noticesIn(view.log), async ({ usage, signal }) => {
          await tellUsage(usage(), additions, view, signal);
          return exitCode;
        })
      : exitCode;
    view.end(summary, true, false);
    return endsWith;
  });
}
