import { EXIT } from '../../domain/exit-code.ts';
import { openSync } from '../../library/open-sync.ts';
import { listenForStop } from '../stop-listener.ts';
import { openServiceManager, type ServiceManager } from '../../service/systemd-notify.ts';
import { alike, type GlobalOptions } from '../global-options.ts';
import { DaemonView } from '../render/daemon-view.ts';
import { load } from '../../library/load.ts';
import { showPage } from '../show-page.ts';
import { UsageError } from '../usage-error.ts';
import { ReloadSignal } from '../reload-signal.ts';
import type { Log } from '../../service/logger.ts';

/** Options of `botsync sync` as a daemon. */
interface DaemonCommandOptions extends GlobalOptions {
  /** Whether its page is shown in a browser. */
  readonly open: boolean;
}

/** `botsync sync`: keeps everything up to date until a signal. Returns the exit code; throws `SyncError`. */
export async function syncDaemon(options: DaemonCommandOptions): Promise<number> {
  const { config, emulator } = options;
  if (options.open) demandListener(options);
  // It and the view tell each other; neither has anything to tell before both are there.
  const view: DaemonView = new DaemonView(options, () => serviceManager);
  const serviceManager: ServiceManager = openServiceManager(process.env, (message) => {
    view.warn(message);
  });
  const sync = openSync({ config, emulator, log: view.log, observer: view });
  const signals = listenForStop({
    stopping: (signal) => {
      view.stopping(signal);
    },
    endingNow: () => {
      view.endNow();
    },
  });
  const reloads = new ReloadSignal(() => {
    signals.request('SIGHUP');
  });
  try {
    const daemon = await sync.start({
      signal: signals.stop,
      serviceManager,
      endWhenHung: true,
      estimate: view.showsProgress,
      howToAllow: `run: botsync approve${alike(options)}`,
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

/** Throws `UsageError` when there will be no page. */
function demandListener(options: GlobalOptions): void {
  const { config } = load(options);
  if (config.service.listen === null)
    throw new UsageError(
      `${config.file}: --open needs an address for the page; add "service": { "listen": "127.0.0.1:9464" }`,
    );
}

/** Later addresses, after a reload, are only in the log. */
function showPageOnce(log: Log): (address: string) => void {
  let isShown = false;
  return (address) => {
    if (isShown) return;
    isShown = true;
    showPage(address, process.env, process.platform, log);
  };
}
