import { setTimeout as delay } from 'node:timers/promises';
import { guarded, type Database } from './database.ts';
import type { Durability } from './log-file.ts';

/** A group for which nobody waits is committed when it is this old, in milliseconds. */
const OLDEST_GROUP_MS = 50;

/** What is written when something is written anyway, and may as well be missing. */
export interface Incidental {
  /** Whether there is anything to write. */
  readonly isPending: boolean;
  /** Writes it, in a transaction of its own. */
  readonly write: () => void;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers writes into transactions and makes them durable without keeping the event loop waiting for the disk.
 *
 * A commit makes nothing durable: that is done (`Durability`) for all who wait at that moment. While it is, the next
 * group gathers. Later reads on the same connection see the writes at once. For a state file (`LogFile`) a crash of the
 * process loses at most the open group, a power cut also what nobody waited for.
 */
export class WriteGroup {
  readonly #database: Database;
  readonly #durability: Durability;
  readonly #incidental: Incidental;
  #waiters: Waiter[] = [];
  #flushing = false;
  #timer: NodeJS.Timeout | null = null;
  /** A group was rolled back: what it held is gone, so nothing that comes after may count on it. */
  #lost: Error | null = null;

  /** @param incidental - written after each group. */
  constructor(database: Database, durability: Durability, incidental: Incidental) {
    this.#database = database;
    this.#durability = durability;
    this.#incidental = incidental;
  }

  /** Carries out a write within the open group. Throws `StateFileError`. */
  write(action: () => void): void {
    this.#guardedGroup(() => {
      if (!this.#isOpen()) this.#database.exec('BEGIN IMMEDIATE');
      action();
    });
    this.#timer ??= setTimeout(() => {
      this.#commitQuietly();
    }, OLDEST_GROUP_MS);
  }

  /** Resolves once everything written so far is on disk; rejects with `StateFileError` when it cannot be. */
  durable(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      // At the end of the turn, so that all who come in it share one flush.
      if (!this.#flushing && this.#waiters.length === 1) setImmediate(() => void this.#flush());
    });
  }

  /** Commits now. Throws `StateFileError`. */
  commit(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (!this.#isOpen() && this.#lost === null) return;
    this.#guardedGroup(() => {
      this.#database.exec('COMMIT');
    });
    this.writeIncidental();
  }

  /**
   * Writes what is incidental, unless a group is open, after which it is written. In a transaction of its own, so that what
   * goes wrong with it takes nothing else along; and nobody is told.
   */
  writeIncidental(): void {
    if (!this.#incidental.isPending || this.#lost !== null || this.#isOpen()) return;
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      this.#incidental.write();
      this.#database.exec('COMMIT');
    } catch {
      this.#rollBackQuietly();
    }
  }

  #rollBackQuietly(): void {
    try {
      if (this.#isOpen()) this.#database.exec('ROLLBACK');
    } catch {
      // The next group meets what is wrong.
    }
  }

  /** Runs something on the open group. A full disk ends the whole transaction, not only the statement that met it. */
  #guardedGroup(action: () => void): void {
    if (this.#lost !== null) throw this.#lost;
    const wasOpen = this.#isOpen();
    try {
      guarded(action);
    } catch (error) {
      if (wasOpen && !this.#isOpen()) this.#lost = error as Error;
      throw error;
    }
  }

  #isOpen(): boolean {
    return this.#database.isTransaction;
  }

  /** Commits, and lets go of what makes it durable. Throws `StateFileError`. */
  close(): void {
    try {
      this.commit();
    } finally {
      this.#durability.close();
    }
  }

  async #flush(): Promise<void> {
    this.#flushing = true;
    while (this.#waiters.length > 0) {
      const nextFlush = delay(this.#durability.intervalMs);
      const waiters = this.#waiters;
      this.#waiters = [];
      try {
        this.commit();
        await this.#durability.flush();
        for (const { resolve } of waiters) resolve();
      } catch (error) {
        for (const { reject } of waiters) reject(error);
      }
      await nextFlush;
    }
    this.#flushing = false;
  }

  /** Where nobody waits, the next write or the end meets the failure. */
  #commitQuietly(): void {
    try {
      this.commit();
    } catch {
      // see above
    }
    // Whoever writes next is told what went wrong.
    if (this.#durability.isEager) this.durable().catch(() => undefined);
  }
}
