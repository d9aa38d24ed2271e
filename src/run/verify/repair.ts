import { describeHalt } from '../../words/halt.ts';
import { emptySummary } from '../../domain/report.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { StateStore } from '../../store/state-store.ts';
import type { FileDifference } from '../../sync/catalog/compare.ts';
import { countDifferences, noteDifference, noteOrphan, noteSame } from '../../sync/pass/verification.ts';
import type { Verified } from '../../domain/status.ts';
import type { PassResult, PruneResult, VerifyResult } from '../api.ts';
import { comparison, compare, type VerifyRun } from './compare.ts';
import { HistoryRecorder } from '../history-recorder.ts';
import { localHolding } from '../holding.ts';
import { holdLock, useStateFile } from '../state-file.ts';
import { singlePass } from '../once/single-pass.ts';
import { passOutcomeOf, type PassOutcome } from '../pass-outcome.ts';
import type { PlatformAccess } from '../platform/platform-access.ts';
import { SyncError } from '../sync-error.ts';
import { withBots } from './with-bots.ts';

interface RepairRun extends VerifyRun {
  readonly history: HistoryRecorder;
}

/** Compares, records the differences, and repairs or prunes as the options say. Throws `SyncError`. */
export async function repair(run: VerifyRun): Promise<VerifyResult> {
  const { stateFile } = run.loaded.config;
  const lock = lockOf(stateFile);
  const history = new HistoryRecorder(systemClock.now);
  const repairRun = { ...run, feed: run.feed.also(history.listener), history };
  try {
    const repairByBots = async (access: PlatformAccess): Promise<VerifyResult> => {
      const warn = (message: string): void => {
        run.feed.warn(message);
      };
      const used = await useStateFile(stateFile, { checkThoroughly: lock.wasAbandoned, warn }, (state) => {
        history.attach(state.history);
        return repairWith(repairRun, access, state);
      });
      if (used.kind === 'ended') return used.value;
      throw new SyncError('state-file-failed', {
        place: stateFile,
        reason: `cannot be used: ${used.error.message}`,
      });
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
  const { options, stop, feed } = run;
  const now = systemClock.now;
  // Orphans that a guard held back earlier are pruned by this run or stay.
  if (options.prune !== true) state.removals.forgetOrphans();
  const found: OrphanAt[] = [];
  const input = comparison(run, access, state, state.remote);
  const verified = await compare(run, {
    ...input,
    onDifference: (difference, target) => {
      if (options.prune === true && difference.reason === 'orphan') found.push({ difference, target });
      if (options.repair === true) noteDifference(state, target, difference, now());
    },
    onSame: (sent, there, target) => {
      noteSame(state, target, sent, there, now());
    },
  });
  state.remote.saveVerification(now(), JSON.stringify(verified));
  const hasPassed = state.overview.lastPass() !== null;
  if (hasPassed) for (const { difference, target } of found) noteOrphan(state, target, difference, now());
  else if (found.length > 0)
    feed.warn('nothing is pruned before a pass has ended: run botsync sync --once first');
  const noted = state.orphans().length;
  const isPassDue = options.repair === true || noted > 0;
  const repaired = isPassDue && !stop.stop.aborted ? await repairByPass(run, access, state) : null;
  const unnoted = { removed: 0, left: found.length, halts: [] };
  const pruned = options.prune !== true ? null : hasPassed ? prunedOf(noted, state) : unnoted;
  const outcome = outcomeOf(verified, { repaired, pruned, isRepairing: options.repair === true });
  return { outcome, verified, repaired, pruned };
}

interface OrphanAt {
  readonly difference: FileDifference;
  readonly target: number;
}

/** Counts what became of the recorded orphans. */
function prunedOf(noted: number, state: StateStore): PruneResult {
  const left = state.orphans();
  const halts = [...new Set(left)].flatMap((source) => {
    const halt = state.source(source)?.halt ?? null;
    return halt === null ? [] : [{ source, reason: describeHalt(halt) }];
  });
  return { removed: noted - left.length, left: left.length, halts };
}

/** Makes an ordinary pass, which sends the files recorded as different. */
async function repairByPass(
  { options, loaded, ...run }: RepairRun,
  access: PlatformAccess,
  state: StateStore,
): Promise<PassResult> {
  const { config } = loaded;
  const holding = localHolding(state, { config: () => config, clients: () => access.clients }, run.stop);
  const summary = emptySummary();
  run.feed.emit({ kind: 'call-began', counts: summary });
  const { estimate = false, allowRemovals = false } = options;
  const once = {
    ...run,
    ...{ options: { estimate, allowRemovals }, config, access },
    ...{ waitMs: config.confirm.waitMs, usage: null, notifierOf: () => null },
  };
  const { exitCode, sawAll } = await singlePass(once, holding, summary, null);
  run.feed.emit({ kind: 'call-ended', summary, isDryRun: false, isCutShort: !sawAll });
  return { outcome: passOutcomeOf(exitCode), summary, sawAll };
}

interface Done {
  readonly repaired: PassResult | null;
  readonly pruned: PruneResult | null;
  readonly isRepairing: boolean;
}

function outcomeOf(verified: Verified, { repaired, pruned, isRepairing }: Done): PassOutcome {
  const outcome = repaired?.outcome;
  if (outcome === 'interrupted' || outcome === 'credentials' || outcome === 'halted') return outcome;
  const { orphan = 0, 'not-removed': notRemoved = 0 } = verified.reasons;
  const orphansLeft = pruned?.left ?? orphan;
  // The pass has counted the differences that it handles.
  const isPassIncomplete = outcome === 'incomplete';
  const others = isRepairing && repaired !== null ? notRemoved : countDifferences(verified) - orphan;
  return isPassIncomplete || orphansLeft + others + verified.unread > 0 ? 'incomplete' : 'in-sync';
}
