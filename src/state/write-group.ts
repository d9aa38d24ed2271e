import { guarded, type Database } from './database.ts';

/** A group is committed when it holds this many writes … */
const LARGEST_GROUP = 100;
/** … or is this old, in milliseconds; or at the end of the current turn when someone waits for it. */
const OLDEST_GROUP_MS = 50;

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers writes into transactions: a commit waits for the disk, and a hundred files can wait for it together.
 * Later reads on the same connection see the writes at once; a crash loses at most the open group.
 */
export class WriteGroup {
  readonly #database: Database;
  #writes = 0;
  #waiters: Waiter[] = [];
  #timer: NodeJS.Timeout | null = null;
  #immediate: NodeJS.Immediate | null = null;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Carries out a write within the open group. Throws `StateFileError`. */
  write(action: () => void): void {
    guarded(() => {
      if (!this.#database.isTransaction) this.#database.exec('BEGIN IMMEDIATE');
      action();
    });
    this.#writes += 1;
    if (this.#writes >= LARGEST_GROUP) this.#commitSoon();
    else
      this.#timer ??= setTimeout(() => {
        this.#commitQuietly();
      }, OLDEST_GROUP_MS);
  }

  /** Resolves once everything written so far is on disk; rejects with `StateFileError` when it cannot be. */
  durable(): Promise<void> {
    if (this.#writes === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#commitSoon();
    });
  }

  /** Commits now. Throws `StateFileError`. */
  commit(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#immediate !== null) clearImmediate(this.#immediate);
    this.#timer = null;
    this.#immediate = null;
    const waiters = this.#waiters;
    this.#waiters = [];
    this.#writes = 0;
    try {
      guarded(() => {
        if (this.#database.isTransaction) this.#database.exec('COMMIT');
      });
    } catch (error) {
      for (const { reject } of waiters) reject(error);
      throw error;
    }
    for (const { resolve } of waiters) resolve();
  }

  #commitSoon(): void {
    this.#immediate ??= setImmediate(() => {
      this.#commitQuietly();
    });
  }

  /** A failure has reached those who wait; where nobody does, the transaction stays open and the next write meets it. */
  #commitQuietly(): void {
    try {
      this.commit();
    } catch {
      // see above
    }
  }
}
