import { rmSync, writeFileSync } from 'node:fs';
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../service/logger.ts';
import { StateFileError } from '../../store/database.ts';
import type { StateStore } from '../../store/state-store.ts';
import { setDamagedAside, useStateFile } from '../state-file.ts';
import { SyncError } from '../sync-error.ts';

/** How long is waited before a state file that could not be used is retried, milliseconds. */
const RETRY_MS = 15_000;

/** Waits double up to this while new state files are lost soon as well, milliseconds. */
const LONGEST_RETRY_MS = 3_600_000;

/** Waits double up to this while a state file that is there cannot be opened, milliseconds. */
const LONGEST_OPEN_AGAIN_MS = 300_000;

/** A new state file that was of use for so long did not fail for the reason of the one before, milliseconds. */
const SOUND_MS = 600_000;

/** Room that there should be before a state file is retried, bytes. */
const PROBE_BYTES = 65_536;

/** What a state keeper is given. */
export interface StateKeeperInput {
  readonly stateFile: string;
  /** Its last user did not close it. */
  readonly wasAbandoned: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly stop: AbortSignal;
  /**
   * Makes sure of what lies beside the state file and may have gone with it: the lock, the socket. Throws `SyncError`,
   * of code `busy` when another botsync has come.
   */
  readonly regain: () => Promise<void>;
}

/** Keeps a daemon in a state file that can be used, whatever happens to it. */
export class StateKeeper {
  readonly #input: StateKeeperInput;
  #trouble: string | null = null;
  /** Whether the state file was once in use: then it will be again. */
  #wasOpen = false;
  /** How long is waited before it is opened again. */
  #openAgainMs = RETRY_MS;
  /** How long is waited should a new state file be lost as well. */
  #waitMs = 0;

  constructor(input: StateKeeperInput) {
    this.#input = input;
  }

  /** Why the state file cannot be used, while it cannot. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /**
   * Opens the state file and has it served until a stop, over and over when it fails. Throws `SyncError` for one that
   * is not for us.
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
      // A state file is no working copy, and nobody else can have it.
      case 'unheld':
        await this.#untilWritable(error.message);
        break;
    }
    await this.#regain();
  }

  /** Where one state file after the other is lost, the disk fails: each new one would be one more to keep. */
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
    // Each time it is opened in vain SQLite keeps a descriptor.
    this.#openAgainMs = Math.min(this.#openAgainMs * 2, LONGEST_OPEN_AGAIN_MS);
  }

  /** Throws `SyncError` (`busy`) when another botsync has come. */
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

/** Whether files can be written beside the state file. Opening it again to find out would leave a descriptor each time. */
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
    // Then it cannot be written either.
  }
}
