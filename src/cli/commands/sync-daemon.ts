import { spawn } from 'node:child_process';
import { EXIT } from '../../domain/exit-code.ts';
import { openSyncFor } from '../../run/open-sync.ts';
import { listenForStop, ReloadSignal } from '../signals.ts';
import { openServiceManager, type ServiceManager } from '../../service/systemd-notify.ts';
import { commandEnd, type GlobalOptions } from '../global-options.ts';
import { DaemonView } from '../render/daemon-view.ts';
import { load } from '../../run/run-base.ts';
import { UsageError } from '../usage-error.ts';
import type { Log } from '../../service/logger.ts';

interface DaemonCommandOptions extends GlobalOptions {
  readonly open: boolean;
}

/** `botsync sync`: syncs until a signal. Returns the exit code; throws `SyncError`. */
export async function syncDaemon(options: DaemonCommandOptions): Promise<number> {
  const { config, emulator } = options;
  if (options.open) demandListener(options);
  // The view and the service manager refer to each other, but only after both exist.
  const view: DaemonView = new DaemonView(options, () => serviceManager);
  const serviceManager: ServiceManager = openServiceManager(process.env, (message) => {
    view.log.warn(message);
  });
  const sync = openSyncFor({ config, emulator, log: view.log }, [view.listener]);
  const signals = listenForStop(view);
  const reloads = new ReloadSignal(() => {
    signals.request('SIGHUP');
  });
  try {
    const daemon = await sync.start({
      signal: signals.stop,
      serviceManager,
      endWhenHung: true,
      estimate: view.showsProgress,
      howToApprove: `run: botsync approve${commandEnd(options)}`,
      ...(options.open && { listening: showPageOnce(view.log) }),
    });
    reloads.handOver(daemon);
    await daemon.stopped;
    return EXIT.ok;
  } finally {
    reloads.end();
    await view.drain();
    signals.release();
  }
}

/** Throws `UsageError` if there is no address for the page. */
function demandListener(options: GlobalOptions): void {
  const { config } = load(options);
  if (config.service.listen === null)
    throw new UsageError(
      `${config.file}: --open needs an address for the page; add "service": { "listen": "127.0.0.1:9464" }`,
    );
}

/** Shows the page only once, not at addresses after a reload. */
function showPageOnce(log: Log): (address: string) => void {
  let isShown = false;
  return (address) => {
    if (isShown) return;
    isShown = true;
    showPage(address, process.env, process.platform, log);
  };
}

/**
 * Returns the command that opens a browser on the user's desktop; `null` if there is no desktop, as far as is
 * known.
 */
export function browserOpener(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): string | null {
  const isSet = (name: string): boolean => (env[name] ?? '') !== '';
  // The desktop of this machine is not where the user sits.
  if (isSet('SSH_CONNECTION') || isSet('SSH_TTY')) return null;
  if (platform === 'darwin') return 'open';
  return isSet('DISPLAY') || isSet('WAYLAND_DISPLAY') ? 'xdg-open' : null;
}

/**
 * Returns the address of the page for a browser on this machine. `address`: of the listener, such as
 * `0.0.0.0:9464`.
 */
export function pageAddress(address: string): string {
  return `http://${address.replace(/^(?:0\.0\.0\.0|\[::\])(?=:\d+$)/u, 'localhost')}/`;
}

/** Logs the address of the page, and opens it in the desktop's browser if there is one. */
export function showPage(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
  log: Pick<Log, 'info'>,
): void {
  const url = pageAddress(address);
  log.info(`the page is at ${url}`);
  const opener = browserOpener(env, platform);
  if (opener === null) return;
  const failed = (reason: string): void => {
    log.info(`no browser could be opened (${reason}); open the address yourself`);
  };
  // The browser stays open when botsync ends.
  const child = spawn(opener, [url], { env: { ...env }, detached: true, stdio: 'ignore' });
  child.once('error', ({ message }) => {
    failed(message);
  });
  child.once('exit', (code) => {
    if (code !== 0) failed(`${opener} ended with ${code ?? 'a signal'}`);
  });
  child.unref();
}
