import type { Log } from '../../service/logger.ts';
import type { PlatformAccess } from '../platform/platform-access.ts';

/** What is held of a connection. */
export type HeldConnection = Pick<PlatformAccess, 'fingerprint' | 'pausedForMs' | 'pause' | 'close'>;

/**
 * The daemon's connection to the platform, and earlier ones that are still in use. A connection that cannot be closed is
 * logged: it is no reason to end, nor to refuse a reload.
 */
export class ConnectionHolder<Held extends HeldConnection> {
  readonly #log: Log;
  /** Earlier connections, until they are closed. */
  readonly #closing = new Set<Promise<void>>();
  #current: Held | null = null;

  constructor(log: Log) {
    this.#log = log;
  }

  /** `null` until the first one is taken. */
  get current(): Held | null {
    return this.#current;
  }

  /**
   * Goes on with another connection; one that is made from the same addresses, secrets and settings is closed instead.
   * Returns the connection before, which is to be retired once nothing new is begun by it; `null` when it goes on.
   */
  take(next: Held): Held | null {
    const before = this.#current;
    if (before === next) return null;
    if (before?.fingerprint === next.fingerprint) {
      this.retire(next);
      return null;
    }
    // What the platform asked for holds for the next connection as well.
    next.pause(before?.pausedForMs() ?? 0);
    this.#current = next;
    return before;
  }

  /** Closes a connection once what is running by it has settled. */
  retire(connection: Held, settled: Promise<void> = Promise.resolve()): void {
    const closed = this.#close(connection, settled).finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }

  /** Closes everything. */
  async close(): Promise<void> {
    if (this.#current !== null) this.retire(this.#current);
    this.#current = null;
    await Promise.all(this.#closing);
  }

  async #close(connection: Held, settled: Promise<void>): Promise<void> {
    // What went wrong with that is met by those who carry it out.
    await settled.catch(() => undefined);
    try {
      await connection.close();
    } catch (error) {
      const reason = (error as Error).message;
      this.#log.warn('a connection to the platform could not be closed', { reason });
    }
  }
}
