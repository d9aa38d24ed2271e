import { emptySummary } from '../../domain/report.ts';
import { systemClock } from '../../service/system-clock.ts';
import { StateFileError } from '../../state/database.ts';
import type { StateStore } from '../../state/state-store.ts';
import type { FileDifference } from '../../sync/catalog/compare.ts';
import { pruneOrphans } from '../../sync/pass/prune.ts';
import { countDifferences, noteDifference, noteSame } from '../../sync/pass/verification.ts';
import type { Verified } from '../../sync/plan/verify.ts';
import type { PassResult, PruneResult, VerifyResult } from '../api.ts';
import { comparison, compare, type VerifyRun } from './compare.ts';
import { HistoryRecorder } from '../history-recorder.ts';
import { holdLock } from '../hold-lock.ts';
import { platformName } from '../load.ts';
import { singlePass } from '../once/single-pass.ts';
import { openStateFile } from '../open-state-file.ts';
import { passOutcomeOf, type PassOutcome } from '../pass-outcome.ts';
import type { PlatformAccess } from '../platform/platform-access.ts';
import { SyncError } from '../sync-error.ts';
import { withBots } from './with-bots.ts';

/** A comparison that is followed by what repairs. */
interface RepairRun extends VerifyRun {
  readonly history: HistoryRecorder;
}

/** Compares, writes down what was found, and repairs what the options say. Throws `SyncError`. */
export async function repair(run: VerifyRun): Promise<VerifyResult> {
  const { stateFile } = run.loaded.config;
  const lock = lockOf(stateFile);
  const history = new HistoryRecorder(systemClock.now);
  const repairRun = { ...run, feed: run.feed.also(history), history };
  try {
    const repairByBots = async (access: PlatformAccess): Promise<VerifyResult> => {
      const state = openStateFile(stateFile, lock.wasAbandoned, (message) => {
        run.feed.warn(message);
      });
      history.attach(state.history);
      try {
        return await repairWith(repairRun, access, state);
      } catch (error) {
        if (!(error instanceof StateFileError)) throw error;
        throw new SyncError('state-file-failed', {
          place: stateFile,
          reason: `cannot be used: ${error.message}`,
        });
      } finally {
        closeQuietly(state);
      }
    };
    return await withBots(run, 'verify', repairByBots, history.answered);
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
      'The running service repairs automatically, every verify.every. Without --repair and --prune this command can run beside it.';
    throw new SyncError('busy', {
      place: error.place,
      reason: error.reason,
      fix: hint,
      message: `${error.message}\n${hint}`,
    });
  }
}

async function repairWith(run: RepairRun, access: PlatformAccess, state: StateStore): Promise<VerifyResult> {
  const { options, stop } = run;
  const now = systemClock.now;
  const orphans: FileDifference[] = [];
  const input = comparison(run, access, state, state.remote);
  const verified = await compare(run, {
    ...input,
    onDifference: (difference, target) => {
      if (options.prune === true && difference.reason === 'orphan') orphans.push(difference);
      if (options.repair === true) noteDifference(state, target, difference, now());
    },
    onSame: (sent, found, target) => {
      noteSame(state, target, sent, found, now());
    },
  });
  state.remote.saveVerification(now(), JSON.stringify(verified));
  const repaired =
    options.repair === true && !stop.stop.aborted ? await repairByPass(run, access, state) : null;
  const pruned = options.prune === true ? await prune(run, access, state, orphans) : null;
  return { outcome: outcomeOf(verified, repaired, pruned), verified, repaired, pruned };
}

/** Makes an ordinary pass: it sends what is on record as different. */
async function repairByPass(
  { options, loaded, ...run }: RepairRun,
  access: PlatformAccess,
  state: StateStore,
): Promise<PassResult> {
  const { clients } = access;
  const summary = emptySummary();
  run.feed.begin(summary);
  const { estimate = false, allowRemovals = false } = options;
  const once = {
    ...run,
    options: { estimate, allowRemovals },
    config: loaded.config,
    waitMs: loaded.config.confirm.waitMs,
    usage: null,
    platform: clients.files(),
    catalog: clients.catalog(),
    pausedForMs: () => access.pausedForMs(),
    notifier: null,
  };
  const { exitCode, sawAll } = await singlePass(once, state, summary);
  run.feed.end(summary, false, !sawAll);
  return { outcome: passOutcomeOf(exitCode), summary, sawAll };
}

/** Removes orphans. */
async function prune(
  run: VerifyRun,
  access: PlatformAccess,
  state: StateStore,
  orphans: readonly FileDifference[],
): Promise<PruneResult> {
  const { target, options, loaded, feed } = run;
  const { config } = loaded;
  if (orphans.length > 0 && state.overview.lastPass() === null) {
    feed.warn('nothing is pruned before a pass has ended: run botsync sync --once first');
    return { removed: 0, left: orphans.length, halts: [] };
  }
  const { catalog, ports } = comparison(run, access, state, state.remote);
  const { removed, left, halts } = await pruneOrphans(orphans, {
    config,
    platformName: platformName(target, config),
    state,
    catalog,
    platform: access.clients.files(),
    clock: systemClock,
    ports,
    isAllowed: options.allowRemovals === true,
    onEvent: (event) => {
      feed.event(event);
    },
  });
  const told = halts.map(({ source, halt }) => {
    const reason = `halted: ${halt.reason}; check the orphans, then run: botsync verify --prune --allow-removals`;
    feed.event({ kind: 'problem', source, path: '.', key: null, reason });
    return { source, reason };
  });
  return { removed, left, halts: told };
}

function outcomeOf(verified: Verified, repaired: PassResult | null, pruned: PruneResult | null): PassOutcome {
  const outcome = repaired?.outcome;
  if (outcome === 'interrupted' || outcome === 'credentials') return outcome;
  if (outcome === 'halted' || (pruned !== null && pruned.halts.length > 0)) return 'halted';
  const { orphan = 0, 'not-removed': notRemoved = 0 } = verified.reasons;
  const orphansLeft = pruned?.left ?? orphan;
  // What a pass has to do with, it has counted itself.
  const isPassIncomplete = outcome === 'incomplete';
  const others = repaired === null ? countDifferences(verified) - orphan : notRemoved;
  return isPassIncomplete || orphansLeft + others + verified.unread > 0 ? 'incomplete' : 'in-sync';
}

/** After a failure, or when it is closed already. */
function closeQuietly(state: StateStore): void {
  try {
    state.close();
  } catch {
    // What failed was told.
  }
}
