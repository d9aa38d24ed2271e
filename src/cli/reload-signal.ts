import type { SyncDaemon } from '../library/api.ts';

/**
 * Has a daemon reload at SIGHUP. It listens from the start until the process ends: by default the signal would end it, and
 * not with its exit code, and the service manager may send it at any time.
 */
export class ReloadSignal {
  #daemon: Pick<SyncDaemon, 'reload'> | null = null;
  #isWanted = false;

  constructor() {
    process.on('SIGHUP', () => {
      if (this.#daemon === null) this.#isWanted = true;
      else void this.#daemon.reload();
    });
  }

  /** The daemon is up. A signal that came before is made up for. */
  handOver(daemon: Pick<SyncDaemon, 'reload'>): void {
    this.#daemon = daemon;
    if (this.#isWanted) void daemon.reload();
  }

  /** There is nothing to reload any more. */
  end(): void {
    this.#daemon = null;
  }
}
