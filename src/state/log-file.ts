import { closeSync, fdatasync, openSync } from 'node:fs';
import { StateFileError } from './database.ts';

/** Makes what was committed durable. */
export interface Durability {
  /**
   * Resolves once all that was committed until now is durable; rejects with `StateFileError` when it cannot be. Called
   * right after a commit, once at a time.
   */
  readonly flush: () => Promise<void>;
  /** Flushes follow each other no faster than this, milliseconds: those who come in between share the next. */
  readonly intervalMs: number;
  /** Whether what nobody waits for is to be flushed soon as well. */
  readonly isEager: boolean;
  /** So many files at most may be in hand ahead of those that are transferred, of a pass and of each kind of path rescans: if this host ends they are sent again. */
  readonly mostAhead: number;
  /** Lets go of what it holds. */
  readonly close: () => void;
}

/** The write-ahead log of a database, flushed by a thread; SQLite takes no locks on it, so that it may be open here as well. */
export class LogFile implements Durability {
  /** At the end of the process, and after it was killed, the kernel still has what was written. */
  readonly isEager = false;
  /** Who opens the file again sends little twice: the process that had it is known to have ended. */
  readonly mostAhead = Infinity;
  readonly intervalMs = 20;
  readonly #file: string;
  #descriptor: number | null = null;

  constructor(file: string) {
    this.#file = file;
  }

  flush = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const descriptor = (this.#descriptor ??= openSync(this.#file, 'r'));
      fdatasync(descriptor, (error) => {
        if (error === null) resolve();
        else reject(new StateFileError('unwritable', error.message, { cause: error }));
      });
    });

  close = (): void => {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  };
}
