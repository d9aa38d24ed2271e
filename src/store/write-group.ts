import { setTimeout as delay } from 'node:timers/promises';
import { guarded, type Database, StateFileError } from './database.ts';
import { closeSync, fdatasync, openSync } from 'node:fs';

/** A group that nobody waits for is committed at this age, milliseconds. */
const OLDEST_GROUP_MS = 50;

/** Dispensable writes that follow the commit of a group. */
export interface Incidental {
  readonly isPending: boolean;
  /** Called in a transaction of its own. */
  readonly write: () => void;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers writes into transactions and makes them durable without keeping the event loop waiting for the disk.
 *
 * A commit alone is not durable: one flush (`Durability`) serves all callers that wait at that moment, while the next group
 * gathers. Later reads on the same connection see the writes at once. For a state file (`LogFile`) a crash of the process loses at
 * most the open group, a power cut also writes that nobody waited for.
 */
export class WriteGroup {
  readonly #database: Database;
  readonly #durability: Durability;
  readonly #incidental: Incidental;
  #waiters: Waiter[] = [];
  #flushing = false;
  #timer: NodeJS.Timeout | null = null;
  /** Set when a group was rolled back: its writes are lost, so no later write may build on them. */
  #lost: Error | null = null;

  constructor(database: Database, durability: Durability, incidental: Incidental) {
    this.#database = database;
    this.#durability = durability;
    this.#incidental = incidental;
  }

  /** Runs a write within the open group. Throws `StateFileError`. */
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
      // At the end of the turn, so that all callers of this turn share one flush.
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
   * Runs the incidental writes now, or after the commit of the open group. Their transaction is their own: an error in it
   * affects nothing else, and is not reported.
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
      // The next group fails in the same way.
    }
  }

  /** Runs a statement of the open group. A full disk ends the whole transaction, not only the statement. */
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

  /** Commits and closes the durability. Throws `StateFileError`. */
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

  /** Commits a group that nobody waits for. After an error the next write or `close` throws. */
  #commitQuietly(): void {
    try {
      this.commit();
    } catch {
      // The next write or `close` throws it.
    }
    // The next write throws what goes wrong here.
    if (this.#durability.isEager) this.durable().catch(() => undefined);
  }
}

export interface Durability {
  /**
   * Resolves once everything committed so far is durable; rejects with `StateFileError`. Called right after a commit, never twice
   * at the same time.
   */
  readonly flush: () => Promise<void>;
  /** The shortest time between two flushes, milliseconds: callers in between share the next one. */
  readonly intervalMs: number;
  /** True if writes are flushed soon even when nobody waits for them. */
  readonly isEager: boolean;
  /** The most intents ahead of the running transfers, of a pass and of each kind of path rescans: these files are sent again if this host ends. */
  readonly mostAhead: number;
  readonly close: () => void;
}

/** Flushes the write-ahead log of a database in a thread. SQLite takes no locks on the log, so it may be opened here as well. */
export class LogFile implements Durability {
  /** The kernel keeps what was written when the process ends or is killed. */
  readonly isEager = false;
  /** The next process knows that this one has ended, and sends few files twice. */
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
