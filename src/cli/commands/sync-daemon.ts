import { EXIT } from '../../domain/exit-code.ts';
import { openSync } from '../../library/open-sync.ts';
import { listenForStop } from '../stop-listener.ts';
import { openServiceManager, type ServiceManager } from '../../service/systemd-notify.ts';
import { alike, type GlobalOptions } from '../global-options.ts';
import { DaemonView } from '../render/daemon-view.ts';
import { ReloadSignal } from '../reload-signal.ts';

/** `botsync sync`: keeps everything up to date until a signal. Returns the exit code; throws `SyncError`. */
export async function syncDaemon(options: GlobalOptions): Promise<number> {
  const { config, emulator } = options;
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
