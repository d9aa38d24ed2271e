import { emulatorDirectory } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { listenForStop, type StopSignals } from '../../service/stop-signals.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { PlatformUsage } from '../../platform/usage.ts';
import { secretPlace } from '../credential-advice.ts';
import { alike } from '../../cli/global-options.ts';
import { holdLock } from '../hold-lock.ts';
import { invocation, print } from '../../cli/render/output.ts';
import type { PassView } from '../../cli/render/pass-view.ts';
import { noticesIn, withPlatform, type PlatformAccess } from '../platform/platform-access.ts';
import { waitMsOf, type SyncOptions } from '../../cli/sync-options.ts';
import { Notifier } from '../notifier.ts';
import { passWithSoundState } from './sound-pass.ts';
import { OnceNotifier } from './once-notifier.ts';

/** `botsync sync --once`. Returns the exit code; throws `SyncError`. */
export async function syncOnce(options: SyncOptions, loaded: LoadedConfig, view: PassView): Promise<number> {
  const waitMs = waitMsOf(options, loaded.config.confirm.waitMs);
  const lock = holdLock(loaded.config.stateFile, 'the state file', 'sync --once');
  const signals = listenForStop(
    (signal) => {
      view.stopping(signal);
    },
    () => {
      view.endNow();
      process.exit(EXIT.interrupted);
    },
  );
  try {
    const notices = noticesIn(view.log);
    const run = { loaded, useEmulator: options.emulator, command: 'sync', clock: systemClock, notices };
    const exitCode = await withPlatform(run, async (access) => {
      const platform = access.clients.files();
      const catalog = access.clients.catalog();
      const usage = usageClient(options, loaded, access);
      signals.stop.addEventListener('abort', () => {
        access.endWaits();
      });
      signals.abort.addEventListener('abort', () => {
        view.breakingOff();
      });
      const pausedForMs = (): number => access.pausedForMs();
      return await withNotifier({ options, loaded, access }, signals, view, (notifier) =>
        passWithSoundState(
          {
            options,
            config: loaded.config,
            waitMs,
            platform,
            catalog,
            usage,
            signals,
            pausedForMs,
            view,
            notifier,
          },
          lock.wasAbandoned,
        ),
      );
    });
    if (exitCode === EXIT.credentials) view.warn(whatToCheck(options, loaded));
    if (options.emulator && !options.json && exitCode === EXIT.ok) print(whereTheFilesAre(options, loaded));
    return exitCode;
  } finally {
    view.stop();
    signals.release();
    lock.release();
  }
}

/** Throws `SyncError` where the usage is asked for and cannot be. */
function usageClient(
  { usage }: SyncOptions,
  { config }: LoadedConfig,
  { clients, credentials }: PlatformAccess,
): PlatformUsage | null {
  const mayAsk = config.platform.operations === 'auto' && credentials.lacking('admin').length === 0;
  return usage || mayAsk ? clients.usage() : null;
}

interface Told {
  readonly options: SyncOptions;
  readonly loaded: LoadedConfig;
  readonly access: PlatformAccess;
}

/** Runs a task with what tells people of it, if they are to be told. */
async function withNotifier(
  told: Told,
  signals: StopSignals,
  { log }: PassView,
  task: (notifier: OnceNotifier | null) => Promise<number>,
): Promise<number> {
  const notifier = await Notifier.open({ ...told, clock: systemClock, log, howToApprove: 'allow-removals' });
  if (notifier === null) return await task(null);
  try {
    return await task(new OnceNotifier(notifier, log, signals.stop));
  } finally {
    await notifier.close();
  }
}

/** The platform refused the credentials: which they are, and where they are from. */
function whatToCheck(options: SyncOptions, { config }: LoadedConfig): string {
  const { token, baseUrl } = config.platform;
  const place = token === null ? '' : ` (from ${secretPlace(token)})`;
  return `${baseUrl} (platform.baseUrl) refuses the credentials: check platform.token${place}, platform.workspaceId and the bot ids, or run: botsync doctor${alike(options)}`;
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
