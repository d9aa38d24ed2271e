import { renderProblem } from '../../config/problem.ts';
import { emulatorDirectory } from '../../config/config.ts';
import { openSyncFor } from '../../run/open-sync.ts';
import type { Sync } from '../../run/api.ts';
import { load } from '../../run/run-base.ts';
import { keepHeapSmall } from '../../service/heap.ts';
import { listenForStop } from '../signals.ts';
import { commandEnd } from '../global-options.ts';
import { refusalAdvice } from '../credential-advice.ts';
import { exitCodeOf } from '../../run/pass-outcome.ts';
import { invocation, print } from '../render/output.ts';
import { PassView } from '../render/pass-view.ts';
import { demandForcedFile, forced, waitMsOf, type SyncOptions } from '../sync-options.ts';

/** `botsync sync`: the daemon, one pass, or a dry run. Returns the exit code; throws `SyncError`. */
export async function sync(options: SyncOptions): Promise<number> {
  keepHeapSmall();
  if (!options.once && !options.dryRun) {
    const { syncDaemon } = await import('./sync-daemon.ts');
    return await syncDaemon(options);
  }
  const { config, emulator } = options;
  const view = new PassView(options);
  const opened = openSyncFor({ config, emulator, log: view.log }, [view.listener]);
  for (const warning of opened.warnings) view.warn(renderProblem(warning));
  if (options.force !== undefined) await demandForcedFile(options, load(options).config);
  return await (options.dryRun ? showPlan(options, opened, view) : syncOnce(options, opened, view));
}

async function showPlan(options: SyncOptions, opened: Sync, view: PassView): Promise<number> {
  const { usage } = options;
  const { isForced, warnIfUnused } = forced(options);
  // Without a request, the default handling of signals is enough.
  const signals = usage ? listenForStop() : null;
  try {
    const plan = { isForced, usage, ...(signals !== null && { signal: signals.stop }) };
    const { outcome, summary, unmatched, refused } = await opened.plan(plan);
    warnIfUnused(view);
    for (const { field, message, hint } of unmatched) view.warn(`${field} ${message}; ${hint}`);
    view.end(summary, true, false);
    if (outcome === 'credentials') view.warn(refusalAdvice(load(options).config, refused, options));
    return exitCodeOf(outcome);
  } finally {
    signals?.release();
  }
}

/** `botsync sync --once`. */
async function syncOnce(options: SyncOptions, opened: Sync, view: PassView): Promise<number> {
  const { usage, allowRemovals } = options;
  const waitMs = waitMsOf(options);
  const { isForced, warnIfUnused } = forced(options);
  const signals = listenForStop(view);
  try {
    const { outcome } = await opened.pass({
      ...{ isForced, allowRemovals, usage, signal: signals.stop },
      ...(waitMs !== undefined && { waitMs }),
      estimate: view.showsProgress,
      howToApprove: `run: botsync sync --once --allow-removals${commandEnd(options)}`,
    });
    if (!signals.stop.aborted) warnIfUnused(view);
    if (outcome === 'credentials') view.warn(refusalAdvice(load(options).config, view.refusals, options));
    if (options.emulator && !options.json && outcome === 'in-sync') print(whereTheFilesAre(options, opened));
    return exitCodeOf(outcome);
  } finally {
    view.stop();
    signals.release();
  }
}

function whereTheFilesAre(options: SyncOptions, { configFile }: Sync): string {
  const botsync = invocation();
  const withConfig = `--emulator -c ${options.config}`;
  return [
    '',
    `The files are on the local platform (the emulator), which keeps its data in ${emulatorDirectory({ file: configFile })}`,
    'Try next:',
    `  ${botsync} sync --once ${withConfig}    again: nothing is sent`,
    `  ${botsync} status ${withConfig}         which files are in sync, and which expires next`,
    `  ${botsync} sync --dry-run ${withConfig} after changing a file: what a pass would do`,
  ].join('\n');
}
