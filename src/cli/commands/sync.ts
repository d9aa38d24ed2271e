import { emulatorDirectory } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { renderProblem } from '../../config/problem.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { emptySummary, type Summary } from '../../domain/report.ts';
import { compilePattern } from '../../domain/rules.ts';
import { keepHeapSmall } from '../../service/heap.ts';
import { listenForStop, type StopSignals } from '../../service/stop-signals.ts';
import { systemClock } from '../../service/system-clock.ts';
import { StateFileError } from '../../state/database.ts';
import { setAside } from '../../state/open.ts';
import type { StateStore } from '../../state/state-store.ts';
import { Claims } from '../../sync/plan/claims.ts';
import { dryRun } from '../../sync/plan/dry-run.ts';
import { createSyncContext, NO_CHANGE_FEED, unwatchedStages } from '../../sync/pass/sync-context.ts';
import { estimate } from '../../sync/plan/estimate.ts';
import { Flights } from '../../sync/pass/flights.ts';
import { runPass } from '../../sync/pass/pass.ts';
import { findSources } from '../../sync/sources/source.ts';
import type { GlobalOptions } from '../global-options.ts';
import { connect, type Connection } from '../connect.ts';
import { holdLock } from '../hold-lock.ts';
import { load, platformName } from '../load.ts';
import { withStateFile } from '../read-state-file.ts';
import { openStateFile } from '../open-state-file.ts';
import { invocation, print } from '../output.ts';
import { OnceTelling } from '../once-telling.ts';
import { PassView } from '../pass-view.ts';
import { Teller } from '../teller.ts';
import { UsageError } from '../usage-error.ts';

/** Options of `botsync sync`. */
export interface SyncOptions extends GlobalOptions {
  readonly once: boolean;
  readonly dryRun: boolean;
  readonly force: string | undefined;
  readonly allowRemovals: boolean;
}

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
  if (options.dryRun) return await showPlan(options, loaded, view);
  return await syncOnce(options, loaded, view);
}

async function showPlan(options: SyncOptions, { config }: LoadedConfig, view: PassView): Promise<number> {
  return await withStateFile(config.stateFile, async ({ reader }) => {
    const sources = findSources(config, platformName(options, config));
    const claims = new Claims(reader, sources);
    const { isForced, warnIfUnused } = forced(options);
    const { now } = systemClock;
    const aheadMs = reader.platformAheadMs();
    const platformNow = (): number => now() + aheadMs;
    const input = { config, sources, state: reader, claims, platformNow, now, isForced };
    const { summary, exitCode } = await dryRun(input, systemClock, (event) => {
      view.planned(event);
    });
    warnIfUnused(view);
    view.end(summary, true, false);
    return exitCode;
  });
}

async function syncOnce(options: SyncOptions, loaded: LoadedConfig, view: PassView): Promise<number> {
  const { config } = loaded;
  const lock = holdLock(config.stateFile, 'the state file', 'sync --once');
  const signals = listenForStop(
    (signal) => {
      view.stopping(signal);
    },
    () => {
      view.endNow();
      process.exit(EXIT.interrupted);
    },
  );
  let connection: Connection | null = null;
  let teller: Teller | null = null;
  try {
    connection = await connect(options, loaded, systemClock, (message) => {
      view.warn(message);
    });
    const { emulator, endWaits } = connection;
    signals.stop.addEventListener('abort', endWaits);
    const howToApprove = 'allow-removals';
    teller = await Teller.open({
      options,
      loaded,
      emulator,
      clock: systemClock,
      log: view.log,
      howToApprove,
    });
    const telling = teller === null ? null : new OnceTelling(teller, view.log, signals.stop);
    const { wasAbandoned } = lock;
    const exitCode = await passWithSoundState(
      options,
      loaded,
      connection,
      wasAbandoned,
      signals,
      view,
      telling,
    );
    if (options.emulator && !options.json && exitCode === EXIT.ok) print(whereTheFilesAre(options, loaded));
    return exitCode;
  } finally {
    view.stop();
    signals.release();
    try {
      await teller?.close();
    } finally {
      try {
        await connection?.close();
      } finally {
        lock.release();
      }
    }
  }
}

/** Runs a pass; when the state file turns out to be damaged in its midst, once more with a new one. */
async function passWithSoundState(
  options: SyncOptions,
  loaded: LoadedConfig,
  connection: Connection,
  wasAbandoned: boolean,
  signals: StopSignals,
  view: PassView,
  telling: OnceTelling | null,
): Promise<number> {
  const file = loaded.config.stateFile;
  const warn = (message: string): void => {
    view.warn(message);
  };
  for (let isFirst = true; ; isFirst = false) {
    const state = openStateFile(file, wasAbandoned, warn);
    const summary = emptySummary();
    view.begin(summary);
    let trouble: StateFileError | null = null;
    let hasEnded = false;
    try {
      telling?.attach(state, () => connection.platform.now());
      const exitCode = await pass(options, loaded, connection, state, summary, signals, view, telling);
      view.end(summary, false, signals.stop.aborted);
      hasEnded = true;
      await telling?.tell();
      state.close();
      return exitCode;
    } catch (error) {
      if (!(error instanceof StateFileError)) throw error;
      trouble = error;
    } finally {
      closeQuietly(state);
    }
    if (trouble.kind !== 'damaged' || !isFirst) {
      if (!hasEnded) view.end(summary, false, true);
      throw new UsageError(
        `${file} cannot be written: ${trouble.message}; check that this user may write there, make room, then run again: nothing is lost`,
        EXIT.incomplete,
      );
    }
    const aside = setAside(file, Date.now());
    if (aside.kind === 'failed') {
      if (!hasEnded) view.end(summary, false, true);
      throw new UsageError(
        `${file} is damaged (${trouble.message}), and ${aside.reason}; move it away, then run again: nothing is removed because of this`,
        EXIT.incomplete,
      );
    }
    warn(
      `THE STATE FILE IS DAMAGED (${trouble.message}). It is kept as ${aside.name}; a new one is built by sending every file again.`,
    );
  }
}

async function pass(
  options: SyncOptions,
  { config }: LoadedConfig,
  { platform }: Connection,
  state: StateStore,
  summary: Summary,
  signals: StopSignals,
  view: PassView,
  telling: OnceTelling | null,
): Promise<number> {
  const name = platformName(options, config);
  const { isForced, warnIfUnused } = forced(options);
  const ended = new AbortController();
  const counting = view.showsProgress ? count() : Promise.resolve();
  // The pass meets what the count meets; it is thrown below, after the pass.
  counting.catch(() => undefined);
  try {
    const { giveUpAfterMs } = config.upload;
    const syncContext = createSyncContext({
      config,
      platformName: name,
      state,
      platform,
      clock: systemClock,
      random: Math.random,
      report: view,
      waitLimits: { outageMs: giveUpAfterMs, pauseMs: giveUpAfterMs, removalMs: 0 },
      howToAllow: 'run once with --allow-removals',
      stages: unwatchedStages(),
      isWatched: false,
      ...(telling?.announces === true && {
        onDelivery: (delivery) => {
          telling.delivered(delivery);
        },
      }),
      changeFeed: NO_CHANGE_FEED,
      flights: new Flights(),
      detach: new AbortController().signal,
      stop: signals.stop,
      abort: signals.abort,
    });
    const exitCode = await runPass(syncContext, {
      summary,
      isForced,
      isAllowed: () => options.allowRemovals,
    });
    if (!signals.stop.aborted) warnIfUnused(view);
    telling?.passEnded(syncContext);
    return exitCode;
  } finally {
    ended.abort();
    await counting;
  }

  async function count(): Promise<void> {
    const sources = findSources(config, name);
    const claims = new Claims(state, sources);
    const platformNow = (): number => platform.now();
    const input = { config, sources, state, claims, platformNow, now: systemClock.now, isForced };
    const ahead = await estimate(input, systemClock, ended.signal);
    if (ahead !== null) view.expect(ahead.files, ahead.bytes);
  }
}

/** After a failure, or when it is closed already. */
function closeQuietly(state: StateStore): void {
  try {
    state.close();
  } catch {
    // What failed was told.
  }
}

interface Forced {
  readonly isForced: (path: string) => boolean;
  /** Says so when the pattern matched no file. */
  readonly warnIfUnused: (view: PassView) => void;
}

function forced({ force }: SyncOptions): Forced {
  if (force === undefined) return { isForced: () => false, warnIfUnused: () => undefined };
  let matches: (path: string) => boolean;
  try {
    matches = compilePattern(force === '' ? '**' : force);
  } catch (error) {
    throw new UsageError(`--force: no pattern: ${(error as Error).message.slice(0, 200)}`);
  }
  let hasMatched = false as boolean;
  return {
    isForced: (path) => {
      const isForced = matches(path.normalize('NFC'));
      hasMatched ||= isForced;
      return isForced;
    },
    warnIfUnused: (view) => {
      if (!hasMatched) view.warn(`--force ${force}: no file matches`);
    },
  };
}

function whereTheFilesAre(options: SyncOptions, { config }: LoadedConfig): string {
  const botsync = invocation();
  const withConfig = `--emulator -c ${options.config}`;
  return [
    '',
    `The files are on the local platform (the emulator), which keeps its data in ${emulatorDirectory(config)}`,
    'Try next:',
    `  ${botsync} sync --once ${withConfig}    again: nothing has to be sent`,
    `  ${botsync} status ${withConfig}         what is in sync, and what expires next`,
    `  ${botsync} sync --dry-run ${withConfig} after you changed a file: what would be done`,
  ].join('\n');
}
