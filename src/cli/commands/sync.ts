import { renderProblem } from '../../config/problem.ts';
import { emulatorDirectory, type Config } from '../../config/config.ts';
import { openSyncFor } from '../../run/open-sync.ts';
import type { Sync } from '../../run/api.ts';
import { load } from '../../run/run-base.ts';
import type { Log } from '../../service/logger.ts';
import { keepHeapSmall } from '../../service/heap.ts';
import { listenForStop, withStopSignals } from '../signals.ts';
import { commandEnd, type GlobalOptions } from '../global-options.ts';
import { refusalAdvice } from '../credential-advice.ts';
import { exitCodeOf } from '../../run/pass-outcome.ts';
import { invocation, print } from '../render/output.ts';
import { PassView } from '../render/pass-view.ts';
import { readGlob, readWait } from '../arguments.ts';
import { UsageError } from '../usage-error.ts';
import { scan } from '../../files/scan.ts';
import { systemClock } from '../../service/system-clock.ts';
import { Turns } from '../../sync/plan/turns.ts';
import { hintFor } from '../../sync/plan/pattern-warnings.ts';
import { type Source, findSources } from '../../sync/sources/source.ts';

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
  for (const warning of opened.warnings) view.log.warn(renderProblem(warning));
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
    warnIfUnused(view.log);
    for (const { field, message, hint } of unmatched) view.log.warn(`${field} ${message}; ${hint}`);
    view.end(summary, true, false);
    if (outcome === 'credentials') view.log.warn(refusalAdvice(load(options).config, refused, options));
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
  return await withStopSignals(view, async ({ stop }) => {
    const { outcome } = await opened.pass({
      ...{ isForced, allowRemovals, usage, signal: stop },
      ...(waitMs !== undefined && { waitMs }),
      estimate: view.showsProgress,
      howToApprove: `run: botsync sync --once --allow-removals${commandEnd(options)}`,
    });
    if (!stop.aborted) warnIfUnused(view.log);
    if (outcome === 'credentials') view.log.warn(refusalAdvice(load(options).config, view.refusals, options));
    if (options.emulator && !options.json && outcome === 'in-sync') print(whereTheFilesAre(options, opened));
    return exitCodeOf(outcome);
  });
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

export interface SyncOptions extends GlobalOptions {
  readonly once: boolean;
  readonly dryRun: boolean;
  readonly force: string | undefined;
  readonly allowRemovals: boolean;
  /** A duration; `undefined`: `confirm.wait`. */
  readonly wait: string | undefined;
  readonly noWait: boolean;
  /** Shows quotas and what the run would add. */
  readonly usage: boolean;
  /** Opens the page of the daemon in a browser. */
  readonly open: boolean;
}

interface Forced {
  readonly isForced: (path: string) => boolean;
  /** Warns if the pattern matched no file. */
  readonly warnIfUnused: (log: Pick<Log, 'warn'>) => void;
}

/** Parses `--force`. Throws `UsageError`. */
function forced({ force }: Pick<SyncOptions, 'force'>): Forced {
  if (force === undefined) return { isForced: () => false, warnIfUnused: () => undefined };
  const matches = readGlob('--force', force === '' ? '**' : force);
  let hasMatched = false as boolean;
  return {
    isForced: (path) => {
      const isForced = matches(path);
      hasMatched ||= isForced;
      return isForced;
    },
    warnIfUnused: (log) => {
      if (!hasMatched) log.warn(`--force ${force}: no file matches`);
    },
  };
}

/**
 * Returns how long a single pass waits for confirmation, in milliseconds; `undefined`: as configured. Throws
 * `UsageError`.
 */
function waitMsOf({ wait, noWait }: Pick<SyncOptions, 'wait' | 'noWait'>): number | undefined {
  if (noWait) return 0;
  if (wait === undefined) return undefined;
  return readWait('--wait', wait);
}

/**
 * Throws `UsageError` if the pattern of `--force` matches no file, before anything is done. If not every file can
 * be seen, the check passes; the pass reports more.
 */
async function demandForcedFile(options: SyncOptions, config: Config): Promise<void> {
  const { force } = options;
  // Without a pattern, `--force` covers all files, even none.
  if (force === undefined || force === '') return;
  const { isForced } = forced(options);
  const sources: Source[] = [];
  // The name of the platform has no effect on files.
  for (const found of findSources(config, '')) {
    if (found.kind === 'missing') return;
    if ((await lookFor(found.source, isForced)) !== 'none') return;
    sources.push(found.source);
  }
  throw new UsageError(
    `--force ${JSON.stringify(force)} matches no file, so nothing was sent; ${hintFor([force], sources)}`,
  );
}

/** Returns whether a source has a matching file; `unknown` if it has no files, or if not all could be seen. */
async function lookFor(
  source: Source,
  isWanted: (path: string) => boolean,
): Promise<'some' | 'none' | 'unknown'> {
  const turns = new Turns(systemClock);
  let hasFiles = false;
  let isUnseen = false;
  try {
    for (const entry of scan(source)) {
      if (entry.kind === 'file') {
        if (isWanted(entry.path)) return 'some';
        hasFiles = true;
      } else if (entry.kind === 'unseen' || entry.kind === 'unlisted') isUnseen = true;
      const turn = turns.step();
      if (turn !== null) await turn;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return 'unknown';
  }
  return hasFiles && !isUnseen ? 'none' : 'unknown';
}
