import { EXIT } from '../../domain/exit-code.ts';
import { emptySummary } from '../../domain/report.ts';
import { systemClock } from '../../service/system-clock.ts';
import { StateFileError } from '../../state/database.ts';
import type { StateStore } from '../../state/state-store.ts';
import type { FileDifference } from '../../sync/catalog/compare.ts';
import { pruneOrphans } from '../../sync/pass/prune.ts';
import { countDifferences, noteDifference, noteSame } from '../../sync/pass/verification.ts';
import type { Verified } from '../../sync/plan/verify.ts';
import { comparison, compare, type VerifyRun } from './compare.ts';
import { holdLock } from '../hold-lock.ts';
import { platformName } from '../load.ts';
import { singlePass } from '../once/single-pass.ts';
import { openStateFile } from '../open-state-file.ts';
import { noticesIn, withPlatform, type PlatformAccess } from '../platform/platform-access.ts';
import { print, shown } from '../../cli/render/output.ts';
import { SyncError } from '../sync-error.ts';

/** Compares, writes down what was found, and puts right what the options say. Returns the exit code; throws `SyncError`. */
export async function mend(run: VerifyRun): Promise<number> {
  const { options, loaded, signals, view } = run;
  const { stateFile } = loaded.config;
  const lock = lockOf(stateFile);
  try {
    const notices = noticesIn(view.log);
    const platformRun = {
      loaded,
      useEmulator: options.emulator,
      command: 'verify',
      clock: systemClock,
      notices,
    };
    return await withPlatform(platformRun, async (access) => {
      signals.stop.addEventListener('abort', () => {
        access.endWaits();
      });
      const state = openStateFile(stateFile, lock.wasAbandoned, (message) => {
        view.warn(message);
      });
      try {
        return await mendWith(run, access, state);
      } catch (error) {
        if (!(error instanceof StateFileError)) throw error;
        throw new SyncError('state-file-failed', {
          place: stateFile,
          reason: `cannot be used: ${error.message}`,
        });
      } finally {
        closeQuietly(state);
      }
    });
  } finally {
    lock.release();
  }
}

function lockOf(stateFile: string): ReturnType<typeof holdLock> {
  try {
    return holdLock(stateFile, 'the state file', 'verify');
  } catch (error) {
    if (!(error instanceof SyncError) || error.code !== 'busy') throw error;
    const hint =
      'A running daemon puts right what it finds by itself, every verify.every; without --repair and --prune this command looks beside it.';
    throw new SyncError('busy', {
      place: error.place,
      reason: error.reason,
      fix: hint,
      message: `${error.message}\n${hint}`,
    });
  }
}

async function mendWith(run: VerifyRun, access: PlatformAccess, state: StateStore): Promise<number> {
  const { options, signals } = run;
  const now = systemClock.now;
  const orphans: FileDifference[] = [];
  const input = comparison(run, access, state, state.remote);
  const verified = await compare(run, {
    ...input,
    onDifference: (difference, target) => {
      if (options.prune && difference.reason === 'orphan') orphans.push(difference);
      if (options.repair) noteDifference(state, target, difference, now());
    },
    onSame: (sent, found, target) => {
      noteSame(state, target, sent, found, now());
    },
  });
  state.remote.saveVerification(now(), JSON.stringify(verified));
  const repaired = options.repair && !signals.stop.aborted ? await repair(run, access, state) : null;
  const pruned = options.prune ? await prune(run, access, state, orphans) : null;
  return exitCodeOf(verified, repaired, pruned);
}

/** Makes an ordinary pass: it sends what is on record as different. Returns its exit code. */
async function repair(
  { options, loaded, signals, view }: VerifyRun,
  access: PlatformAccess,
  state: StateStore,
): Promise<number> {
  const { clients } = access;
  const summary = emptySummary();
  view.begin(summary);
  const once = {
    options: {
      ...options,
      ...{ once: true, dryRun: false, force: undefined, wait: undefined, noWait: false, usage: false },
    },
    config: loaded.config,
    waitMs: loaded.config.confirm.waitMs,
    usage: null,
    platform: clients.files(),
    catalog: clients.catalog(),
    pausedForMs: () => access.pausedForMs(),
    signals,
    view,
    notifier: null,
  };
  const { exitCode, sawAll } = await singlePass(once, state, summary);
  view.end(summary, false, !sawAll);
  return exitCode;
}

/** Removes orphans. Returns how many are left, and whether a guard kept them. */
async function prune(
  run: VerifyRun,
  access: PlatformAccess,
  state: StateStore,
  orphans: readonly FileDifference[],
): Promise<{ readonly left: number; readonly isHalted: boolean }> {
  const { options, loaded, view } = run;
  const { config } = loaded;
  if (orphans.length > 0 && state.overview.lastPass() === null) {
    view.warn('nothing is pruned before a pass has ended: run botsync sync --once first');
    return { left: orphans.length, isHalted: false };
  }
  const { catalog, ports } = comparison(run, access, state, state.remote);
  const { removed, left, halts } = await pruneOrphans(orphans, {
    config,
    platformName: platformName(options, config),
    state,
    catalog,
    platform: access.clients.files(),
    clock: systemClock,
    ports,
    isAllowed: options.allowRemovals,
    onEvent: (event) => {
      view.event(event);
    },
  });
  for (const { source, halt } of halts) {
    const reason = `halted: ${halt.reason}; look at the orphans, then add --allow-removals`;
    view.event({ kind: 'problem', source, path: '.', key: null, reason });
    if (!options.json) print(`${shown(source)}: ${shown(reason)}`);
  }
  if (!options.json)
    print(`Pruned: ${removed} ${removed === 1 ? 'orphan' : 'orphans'} removed, ${left} left`);
  return { left, isHalted: halts.length > 0 };
}

function exitCodeOf(
  verified: Verified,
  repaired: number | null,
  pruned: { readonly left: number; readonly isHalted: boolean } | null,
): number {
  if (repaired === EXIT.interrupted || repaired === EXIT.credentials) return repaired;
  if (repaired === EXIT.halted || pruned?.isHalted === true) return EXIT.halted;
  const { orphan = 0, 'not-removed': notRemoved = 0 } = verified.reasons;
  const orphansLeft = pruned?.left ?? orphan;
  // What a pass has to do with, it has counted itself.
  const others = repaired === null ? countDifferences(verified) - orphan : notRemoved + repaired;
  return orphansLeft + others + verified.unread > 0 ? EXIT.incomplete : EXIT.ok;
}

/** After a failure, or when it is closed already. */
function closeQuietly(state: StateStore): void {
  try {
    state.close();
  } catch {
    // What failed was told.
  }
}
