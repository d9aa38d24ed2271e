import type { LoadedConfig } from '../../config/load-config.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { PlatformUsage } from '../../platform/usage.ts';
import type { PassOptions, PassResult } from '../api.ts';
import { HistoryRecorder } from '../history-recorder.ts';
import { holdLock } from '../state-file.ts';
import type { RunBase } from '../run-base.ts';
import { noticesIn, withPlatform, type PlatformAccess } from '../platform/platform-access.ts';
import { Notifier } from '../notifier.ts';
import type { Stop } from '../stop.ts';
import { passOverStateFile } from './state-file-pass.ts';
import { OnceNotifier } from './once-notifier.ts';

/** Makes one full pass. Throws `SyncError` if it cannot be made. */
export async function passOnce(
  base: RunBase,
  loaded: LoadedConfig,
  options: PassOptions,
  stop: Stop,
): Promise<PassResult> {
  const { target, env, log } = base;
  const { config } = loaded;
  const history = new HistoryRecorder(systemClock.now);
  const feed = base.feed.also(history.listener);
  const waitMs = options.waitMs ?? config.confirm.waitMs;
  const run = { ...base, feed, history, options, config, waitMs };
  const lock = holdLock(config.stateFile, 'the state file', 'sync --once');
  try {
    const notices = noticesIn(log);
    const asked = { loaded, useEmulator: target.emulator, env, command: 'sync', clock: systemClock };
    return await withPlatform({ ...asked, notices, onAnswer: history.answered }, async (access) => {
      const usage = usageClient(options, loaded, access);
      stop.stop.addEventListener('abort', () => {
        access.endWaits();
      });
      stop.abort.addEventListener('abort', () => {
        feed.emit({ kind: 'breaking-off' });
      });
      return await withNotifier(base, { loaded, access }, stop, async (notifierOf) => {
        const once = { ...run, access, usage, stop, notifierOf };
        if (config.cluster === null) return await passOverStateFile(once, lock);
        const { passInCluster } = await import('./cluster-pass.ts');
        return await passInCluster(once, loaded);
      });
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

interface Told {
  readonly loaded: LoadedConfig;
  readonly access: PlatformAccess;
}

/** Runs a task with a notifier, if notifications are configured. */
async function withNotifier<T>(
  { target, log }: RunBase,
  told: Told,
  { stop }: Stop,
  task: (notifierOf: () => OnceNotifier | null) => Promise<T>,
): Promise<T> {
  const input = { ...told, options: target, clock: systemClock, log };
  const notifier = await Notifier.open({ ...input, howToApprove: 'allow-removals' });
  if (notifier === null) return await task(() => null);
  try {
    return await task(() => new OnceNotifier(notifier, log, stop));
  } finally {
    await notifier.close();
  }
}
