import type { LoadedConfig } from '../../config/load-config.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { PlatformUsage } from '../../platform/usage.ts';
import type { PassOptions, PassResult } from '../api.ts';
import { HistoryRecorder } from '../history-recorder.ts';
import { holdLock, setDamagedAside, useStateFile, type StateFileUse } from '../state-file.ts';
import type { RunBase } from '../run-base.ts';
import { withAccess, type PlatformAccess } from '../platform/platform-access.ts';
import { Notifier } from '../notifier.ts';
import type { Stop } from '../stop.ts';
import { OnceNotifier } from './once-notifier.ts';
import { emptySummary } from '../../domain/report.ts';
import type { ProcessLock } from '../../service/process-lock.ts';
import type { StateFileError } from '../../store/database.ts';
import { localHolding } from '../holding.ts';
import { passOutcomeOf } from '../pass-outcome.ts';
import { SyncError } from '../sync-error.ts';
import { singlePass, type OnceRun } from './single-pass.ts';

/** Makes one full pass. Throws `SyncError` if it cannot be made. */
export async function passOnce(
  base: RunBase,
  loaded: LoadedConfig,
  options: PassOptions,
  stop: Stop,
): Promise<PassResult> {
  const { config } = loaded;
  const history = new HistoryRecorder(systemClock.now);
  const feed = base.feed.also(history.listener);
  const waitMs = options.waitMs ?? config.confirm.waitMs;
  const run = { ...base, feed, history, options, config, waitMs };
  const lock = holdLock(config.stateFile, 'the state file', 'sync --once');
  try {
    const use = { command: 'sync', stop: stop.stop, onAnswer: history.answered };
    return await withAccess(base, loaded, use, async (access) => {
      const usage = usageClient(options, loaded, access);
      stop.abort.addEventListener('abort', () => {
        feed.emit({ kind: 'breaking-off' });
      });
      const { target, log } = base;
      const input = { options: target, loaded, access, clock: systemClock, log };
      const notifier = await Notifier.open({ ...input, howToApprove: 'allow-removals' });
      try {
        const notifierOf = () => notifier && new OnceNotifier(notifier, log, stop.stop);
        const once = { ...run, access, usage, stop, notifierOf };
        if (config.cluster === null) return await passOverStateFile(once, lock);
        const { passInCluster } = await import('./cluster-pass.ts');
        return await passInCluster(once, loaded);
      } finally {
        await notifier?.close();
      }
    });
  } finally {
    lock.release();
  }
}

/** Throws `SyncError` if the options require the usage and it cannot be fetched. */
function usageClient(
  { usage }: PassOptions,
  { config }: LoadedConfig,
  { clients, credentials }: PlatformAccess,
): PlatformUsage | null {
  const mayAsk = config.platform.operations === 'auto' && credentials.lacking('admin').length === 0;
  return usage === true || mayAsk ? clients.usage() : null;
}

/** A service that has not run for so long is forgotten: single passes do its work now, milliseconds. */
const SERVICE_FORGOTTEN_MS = 7 * 86_400_000;

/**
 * Passes once over everything with the local state file. If that turns out to be damaged in the middle of the pass, passes again with a new
 * one. Throws `SyncError` for a state file that cannot be used.
 */
async function passOverStateFile(
  run: OnceRun,
  { wasAbandoned }: Pick<ProcessLock, 'wasAbandoned'>,
): Promise<PassResult> {
  const first = await attempt(run, wasAbandoned);
  if (first.kind === 'ended') return first.value;
  if (first.error.kind !== 'damaged') throw unwritable(run, first);
  replaceDamaged(run, first);
  const second = await attempt(run, wasAbandoned);
  if (second.kind === 'ended') return second.value;
  throw unwritable(run, second);
}

/** `cutShort`: prints the end of the pass, unless that was done. */
type Attempt = StateFileUse<PassResult> & { readonly cutShort: () => void };

async function attempt(run: OnceRun, checkThoroughly: boolean): Promise<Attempt> {
  const { config, access, feed, history, stop } = run;
  const summary = emptySummary();
  let hasEnded = false;
  const used = await useStateFile(config.stateFile, { checkThoroughly, warn: feed.warn }, async (state) => {
    history.attach(state.history);
    feed.emit({ kind: 'call-began', counts: summary });
    const holding = localHolding(state, { config: () => config, clients: () => access.clients }, stop);
    const notifier = run.notifierOf();
    notifier?.attach(holding);
    const { exitCode, sawAll } = await singlePass(run, holding, summary, notifier);
    state.forgetService(Date.now() - SERVICE_FORGOTTEN_MS);
    feed.emit({ kind: 'call-ended', summary, isDryRun: false, isCutShort: !sawAll });
    hasEnded = true;
    await notifier?.tell();
    return { outcome: passOutcomeOf(exitCode), summary, sawAll };
  });
  const cutShort = (): void => {
    if (!hasEnded) feed.emit({ kind: 'call-ended', summary, isDryRun: false, isCutShort: true });
  };
  return { ...used, cutShort };
}

interface Failed {
  readonly error: StateFileError;
  readonly cutShort: () => void;
}

/** Sets the state file aside. Throws `SyncError` if that fails. */
function replaceDamaged({ config, feed }: OnceRun, { error, cutShort }: Failed): void {
  const aside = setDamagedAside(config.stateFile, error, Date.now());
  if (aside.kind === 'kept') {
    feed.warn(aside.message);
    return;
  }
  cutShort();
  throw new SyncError('state-file-failed', {
    place: config.stateFile,
    reason: `is damaged (${error.message}), and ${aside.reason}`,
    fix: 'move it away, then run again: nothing is removed because of this',
  });
}

function unwritable({ config }: OnceRun, { error, cutShort }: Failed): SyncError {
  cutShort();
  return new SyncError('state-file-failed', {
    place: config.stateFile,
    reason: `cannot be written: ${error.message}`,
    fix: 'check that this user may write there, free some space, then run again: nothing is lost',
  });
}
