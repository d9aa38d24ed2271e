import type { LoadedConfig } from '../../config/load-config.ts';
import { ListingError } from '../../store/listing.ts';
import { countDifferences, noteDifference, noteOrphan, noteSame } from '../../sync/pass/verification.ts';
import type { VerifyOptions, VerifyResult, PassResult, PruneResult } from '../api.ts';
import { type RunBase, platformName } from '../run-base.ts';
import { withRecords } from '../read-records.ts';
import type { Stop } from '../stop.ts';
import { SyncError } from '../sync-error.ts';
import { compare, comparison, type VerifyRun, memoryOf } from './compare.ts';
import { describeHalt } from '../../words/halt.ts';
import { emptySummary } from '../../domain/report.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { StateStore } from '../../store/state-store.ts';
import type { FileDifference } from '../../sync/catalog/compare.ts';
import type { Verified } from '../../domain/status.ts';
import { HistoryRecorder } from '../history-recorder.ts';
import { localHolding } from '../holding.ts';
import { holdLock, useStateFile } from '../state-file.ts';
import { singlePass } from '../once/single-pass.ts';
import { passOutcomeOf, type PassOutcome } from '../pass-outcome.ts';
import { withAccess, type PlatformAccess } from '../platform/platform-access.ts';

/** Compares the files of the bots with what was sent, and repairs or prunes as the options say. Throws `SyncError`. */
export async function verify(
  base: RunBase,
  loaded: LoadedConfig,
  options: VerifyOptions,
  stop: Stop,
): Promise<VerifyResult> {
  const run = { ...base, loaded, options, stop };
  try {
    const result = await verifyOrRepair(run);
    return stop.stop.aborted ? { ...result, outcome: 'interrupted' } : result;
  } catch (error) {
    if (error instanceof ListingError) throw new SyncError('state-file-failed', { reason: error.message });
    if (stop.stop.aborted && error instanceof SyncError)
      throw new SyncError('interrupted', { reason: error.message });
    throw error;
  }
}

async function verifyOrRepair(run: VerifyRun): Promise<VerifyResult> {
  const { options, loaded, env, feed } = run;
  const isShared = loaded.config.cluster !== null;
  if (!isShared && (options.repair === true || options.prune === true)) return await repair(run);
  // Only the holder of a unit may write its records.
  if (options.prune === true)
    throw new SyncError('usage', {
      reason:
        '--prune works on the state file of one host, and these sources are in the ledger of the cluster',
      fix: 'run botsync verify without it',
    });
  const result = await look(run);
  if (options.repair !== true || result.outcome === 'in-sync') return result;
  const { askHoldersToRepair } = await import('../cluster/ask-holders.ts');
  for (const { source, host } of await askHoldersToRepair(loaded, env))
    feed.warn(
      host === null
        ? `${source} is held by no host just now: run this again once one holds it`
        : `${host} was asked to repair ${source}; watch it with: botsync status`,
    );
  return result;
}

/** Compares without writing, also while another process writes the state file. */
async function look(run: VerifyRun): Promise<VerifyResult> {
  const { loaded, target, env, stop } = run;
  const place = { loaded, platformName: platformName(target, loaded.config), env };
  return await withAccess(run, loaded, { command: 'verify', stop: stop.stop }, (access) =>
    withRecords(place, async ({ reader }) => {
      const input = comparison(run, access, reader, memoryOf(reader));
      const verified = await compare(run, {
        ...input,
        onDifference: () => undefined,
        onSame: () => undefined,
      });
      const outcome = countDifferences(verified) + verified.unread > 0 ? 'incomplete' : 'in-sync';
      return { outcome, verified, repaired: null, pruned: null };
    }),
  );
}

interface RepairRun extends VerifyRun {
  readonly history: HistoryRecorder;
}

/** Compares, records the differences, and repairs or prunes as the options say. Throws `SyncError`. */
async function repair(run: VerifyRun): Promise<VerifyResult> {
  const { stateFile } = run.loaded.config;
  const lock = lockOf(stateFile);
  const history = new HistoryRecorder(systemClock.now);
  const feed = run.feed.also(history.listener);
  const use = { command: 'verify', stop: run.stop.stop, onAnswer: history.answered };
  const opening = { checkThoroughly: lock.wasAbandoned, warn: run.feed.warn };
  try {
    return await withAccess(run, run.loaded, use, async (access) => {
      const used = await useStateFile(stateFile, opening, (state) => {
        history.attach(state.history);
        return repairWith({ ...run, feed, history }, access, state);
      });
      if (used.kind === 'ended') return used.value;
      throw new SyncError('state-file-failed', {
        place: stateFile,
        reason: `cannot be used: ${used.error.message}`,
      });
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
