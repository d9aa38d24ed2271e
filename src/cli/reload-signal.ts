import { isatty } from 'node:tty';
import type { SyncDaemon } from '../library/api.ts';

/** A terminal that sent the signal before it closes does so soon, milliseconds. */
const LOOK_AGAIN_MS = 1000;

/** So often is looked whether it has. */
const LOOKS = 10;

/**
 * Has a daemon reload at SIGHUP. It listens from the start until the process ends: by default the signal would end it, and
 * not with its exit code, and the service manager may send it at any time. When a terminal closes, the kernel and the shell
 * send the same signal, some terminals just before they close; a daemon in the foreground stops then, as nobody could stop it
 * any more.
 */
export class ReloadSignal {
  #daemon: Pick<SyncDaemon, 'reload'> | null = null;
  #isWanted = false;

  readonly #onHangUp: () => void;
  /** The descriptors that were a terminal at the start. */
  readonly #terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  #looking: NodeJS.Timeout | null = null;

  /** @param onHangUp - told that the terminal has closed, perhaps more than once. */
  constructor(onHangUp: () => void) {
    this.#onHangUp = onHangUp;
    process.on('SIGHUP', () => {
      if (this.#hasHungUp()) {
        onHangUp();
        return;
      }
      if (this.#terminals.length > 0) this.#lookAgain();
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
    this.#stopLooking();
  }

  /** A terminal that was closed answers no question any more, not even whether it is one. */
  #hasHungUp(): boolean {
    return this.#terminals.some((descriptor) => !isatty(descriptor));
  }

  #lookAgain(): void {
    this.#stopLooking();
    let left = LOOKS;
    this.#looking = setInterval(() => {
      left -= 1;
      if (this.#hasHungUp()) this.#onHangUp();
      else if (left > 0) return;
      this.#stopLooking();
    }, LOOK_AGAIN_MS);
    this.#looking.unref();
  }

  #stopLooking(): void {
    if (this.#looking !== null) clearInterval(this.#looking);
    this.#looking = null;
  }
}
