import { isatty } from 'node:tty';
import { EXIT } from '../domain/exit-code.ts';
import type { SyncDaemon } from '../run/api.ts';

export interface StopSignals {
  /** Aborts with the first signal. */
  readonly stop: AbortSignal;
  /** Asks for a clean end, as the first signal does. Further calls do nothing. */
  readonly request: (signal: string) => void;
  readonly release: () => void;
}

export interface StopPorts {
  /** Called once, with the name of the first signal. */
  readonly stopping?: (signal: string) => void;
  /** Called before a second signal ends the process. */
  readonly endNow?: () => void;
}

/**
 * Listens for SIGINT and SIGTERM until `release`: the first asks for a clean end, a second one ends the process at once
 * with 130.
 */
export function listenForStop(
  ports: StopPorts = {},
  exit: (code: number) => void = (code) => process.exit(code),
): StopSignals {
  const stop = new AbortController();
  const request = (signal: string): void => {
    if (stop.signal.aborted) return;
    stop.abort();
    ports.stopping?.(signal);
  };
  const handle = (signal: string): void => {
    if (!stop.signal.aborted) {
      request(signal);
      return;
    }
    ports.endNow?.();
    exit(EXIT.interrupted);
  };
  process.on('SIGINT', handle);
  process.on('SIGTERM', handle);
  return {
    stop: stop.signal,
    request,
    release: () => {
      process.off('SIGINT', handle);
      process.off('SIGTERM', handle);
    },
  };
}

/** Runs a task that a signal asks to end; `view` shows that, and has nothing more to show afterwards. */
export async function withStopSignals<Result>(
  view: StopPorts & { readonly stop: () => void },
  task: (signals: StopSignals) => Promise<Result>,
): Promise<Result> {
  const signals = listenForStop(view);
  try {
    return await task(signals);
  } finally {
    view.stop();
    signals.release();
  }
}

/** A closing terminal that sent the signal closes within this time, in milliseconds. */
const LOOK_AGAIN_MS = 1000;

/** Number of checks in that time. */
const LOOKS = 10;

/**
 * Reloads a daemon at SIGHUP. Listens from the start until the process ends, since the signal would end it by
 * default, with another exit code, and the service manager may send it at any time. When a terminal closes, the
 * kernel and the shell send the same signal, some terminals just before they close; a daemon in the foreground then
 * stops, since nobody could stop it any more.
 */
export class ReloadSignal {
  #daemon: Pick<SyncDaemon, 'reload'> | null = null;
  #isWanted = false;

  readonly #onHangUp: () => void;
  /** Descriptors that were a terminal at the start. */
  readonly #terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  #looking: NodeJS.Timeout | null = null;

  /** @param onHangUp - called when the terminal has closed, perhaps repeatedly. */
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

  /** Starts reloading; catches up on an earlier signal. */
  handOver(daemon: Pick<SyncDaemon, 'reload'>): void {
    this.#daemon = daemon;
    if (this.#isWanted) void daemon.reload();
  }

  /** Ignores further signals. */
  end(): void {
    this.#daemon = null;
    this.#stopLooking();
  }

  /** A closed terminal is not reported as a terminal any more. */
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
