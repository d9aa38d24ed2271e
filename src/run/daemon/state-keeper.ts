import { rmSync, writeFileSync } from 'node:fs';
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../service/logger.ts';
import { StateFileError } from '../../store/database.ts';
import type { StateStore } from '../../store/state-store.ts';
import { setDamagedAside, useStateFile } from '../state-file.ts';
import { SyncError } from '../sync-error.ts';

/** Wait before an unusable state file is retried, milliseconds. */
const RETRY_MS = 15_000;

/** Maximum of the doubling wait while new state files are also lost soon, milliseconds. */
const LONGEST_RETRY_MS = 3_600_000;

/** Maximum of the doubling wait while an existing state file cannot be opened, milliseconds. */
const LONGEST_OPEN_AGAIN_MS = 300_000;

/** A state file that worked for this long did not fail for the reason of the previous one, milliseconds. */
const SOUND_MS = 600_000;

/** Free space required before a state file is retried, bytes. */
const PROBE_BYTES = 65_536;

interface StateKeeperInput {
  readonly stateFile: string;
  /** True if the last user of the state file did not close it. */
  readonly wasAbandoned: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly stop: AbortSignal;
  /**
   * Restores what is next to the state file and may be lost with it: the lock, the socket. Throws `SyncError`, with
   * code `busy` if another botsync holds the lock.
   */
  readonly regain: () => Promise<void>;
}

/** Keeps a daemon running on a usable state file, through damage, loss and full disks. */
export class StateKeeper {
  readonly #input: StateKeeperInput;
  #trouble: string | null = null;
  /** True once the state file was in use: then errors of opening it count as temporary. */
  #wasOpen = false;
  /** Wait before the state file is opened again, milliseconds. */
  #openAgainMs = RETRY_MS;
  /** Wait if a new state file is also lost, milliseconds. */
  #waitMs = 0;

  constructor(input: StateKeeperInput) {
    this.#input = input;
  }

  /** Why the state file cannot be used; `null`: it can. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /**
   * Opens the state file and runs `serve` on it until a stop, again after each failure. Throws `SyncError` for a state
   * file that cannot be opened at the start.
   *
   * @param serve - resolves at a stop; throws `StateFileError`.
   */
  async untilStopped(serve: (state: StateStore) => Promise<void>): Promise<void> {
    const { stop, clock, wasAbandoned } = this.#input;
    for (let isChecked = wasAbandoned; !stop.aborted; isChecked = true) {
      const beganMs = clock.monotonic();
      const error = await this.#serveOnce(serve, isChecked);
      if (error === null) continue;
      if (clock.monotonic() - beganMs >= SOUND_MS) this.#waitMs = 0;
      await this.#repair(error);
    }
  }

  async #serveOnce(
    serve: (state: StateStore) => Promise<void>,
    isChecked: boolean,
  ): Promise<StateFileError | null> {
    const { stateFile, log } = this.#input;
    const warn = (message: string): void => {
      log.warn(message);
    };
    const used = { isOpen: false };
    try {
      const ended = await useStateFile(stateFile, { checkThoroughly: isChecked, warn }, (state) => {
        used.isOpen = true;
        this.#trouble = null;
        this.#wasOpen = true;
        this.#openAgainMs = RETRY_MS;
        return serve(state);
      });
      if (ended.kind === 'ended') return null;
      if (!ended.isClosing) return ended.error;
      // The next start finds out what was not written.
      log.error(`the state file could not be closed: ${ended.error.message}`);
      return null;
    } catch (error) {
      // A state file that was usable once will be usable again.
      if (used.isOpen || !this.#wasOpen || !(error instanceof SyncError)) throw error;
      return new StateFileError('unwritable', error.message);
    }
  }

  /** Resolves when the state file may be retried. */
  async #repair(error: StateFileError): Promise<void> {
    const { stateFile, clock, log } = this.#input;
    switch (error.kind) {
      case 'gone':
        log.error(
          `THE STATE FILE IS MISSING (${error.message}); a new one is built by sending every file again.`,
        );
        await this.#rest(error);
        break;
      case 'damaged': {
        const aside = setDamagedAside(stateFile, error, clock.now());
        if (aside.kind === 'kept') {
          log.error(aside.message);
          await this.#rest(error);
        } else await this.#untilWritable(`it is damaged (${error.message}), and ${aside.reason}`);
        break;
      }
      case 'unlocked':
        log.error(`THE STATE FILE WAS NOT LOCKED (${error.message}); botsync locks it again.`);
        break;
      case 'unwritable':
      // `unheld` cannot happen: a state file is no working copy of a unit.
      case 'unheld':
        await this.#untilWritable(error.message);
        break;
    }
    await this.#regain();
  }

  /** Waits if state files are lost one after the other: the disk fails, and each lost file would be kept. */
  async #rest({ message }: StateFileError): Promise<void> {
    const { stateFile, clock, log, stop } = this.#input;
    if (this.#waitMs > 0) {
      this.#trouble = `the state file was lost again within a short time: ${message}`;
      log.error(`${this.#trouble}; check the disk`, { stateFile, waitMs: this.#waitMs });
      await clock.sleep(this.#waitMs, stop);
    }
    this.#waitMs = Math.min(Math.max(this.#waitMs * 2, RETRY_MS), LONGEST_RETRY_MS);
  }

  async #untilWritable(reason: string): Promise<void> {
    const { stateFile, clock, log, stop } = this.#input;
    this.#trouble = `the state file cannot be used: ${reason}`;
    log.error(`${this.#trouble}; nothing is lost: botsync retries`, { stateFile });
    do await clock.sleep(this.#openAgainMs, stop);
    while (!stop.aborted && !isWritable(stateFile));
    // Each failed attempt to open the file leaks a descriptor in SQLite.
    this.#openAgainMs = Math.min(this.#openAgainMs * 2, LONGEST_OPEN_AGAIN_MS);
  }

  /** Throws `SyncError` (`busy`) if another botsync holds the lock. */
  async #regain(): Promise<void> {
    const { stop, clock, log, stateFile, regain } = this.#input;
    while (!stop.aborted) {
      try {
        await regain();
        return;
      } catch (error) {
        if (!(error instanceof SyncError) || error.code === 'busy') throw error;
        if (this.#trouble !== error.message)
          log.error(`${error.message}; nothing is lost: botsync retries`, { stateFile });
        this.#trouble = error.message;
        await clock.sleep(RETRY_MS, stop);
      }
    }
  }
}

/**
 * Returns whether files can be written next to the state file. Opening the state file to find out could leak a
 * descriptor.
 */
function isWritable(stateFile: string): boolean {
  const probe = `${stateFile}.probe`;
  try {
    writeFileSync(probe, Buffer.alloc(PROBE_BYTES), { flush: true, mode: 0o600 });
    rmSync(probe);
    return true;
  } catch {
    tryRemove(probe);
    return false;
  }
}

function tryRemove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // If it cannot be deleted, it cannot be written either.
  }
}
