import type { LoadedConfig } from '../../config/load-config.ts';
import type { Log } from '../../service/logger.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { RunBase } from '../run-base.ts';
import { noticesIn, openHost, PlatformAccess, type PlatformHost } from '../platform/platform-access.ts';
import { Notifier } from '../notifier.ts';
import type { CountedAnswer } from '../../platform/pacer.ts';

/** The access to the platform under one configuration, and its notifier. */
interface DaemonAccess {
  readonly access: PlatformAccess;
  /** `null`: without notifications. */
  readonly notifier: Notifier | null;
}

type PlatformBase = Pick<RunBase, 'target' | 'env' | 'log'>;

/** A daemon's accesses to the platform, one per configuration. They share one emulator. */
export class DaemonPlatform {
  readonly #base: PlatformBase;
  readonly #onAnswer: (answer: CountedAnswer) => void;
  readonly #connections: ConnectionHolder<PlatformAccess>;
  #host: PlatformHost | null = null;

  /** @param onAnswer - called for every answer of the platform. */
  constructor(base: PlatformBase, onAnswer: (answer: CountedAnswer) => void) {
    this.#base = base;
    this.#onAnswer = onAnswer;
    this.#connections = new ConnectionHolder(base.log);
  }

  /** `null` until `take` was called. */
  get current(): PlatformAccess | null {
    return this.#connections.current;
  }

  /** Throws while nothing is open. */
  get access(): PlatformAccess {
    if (this.current === null) throw new Error('no connection');
    return this.current;
  }

  /** Returns the remaining pause of requests, milliseconds. */
  pausedForMs(): number {
    return this.current?.pausedForMs() ?? 0;
  }

  /** See `PlatformAccess.askedForMs`. */
  askedForMs(): number {
    return this.current?.askedForMs() ?? 0;
  }

  /** Pauses all requests for `ms` from now. */
  pause(ms: number): void {
    this.current?.pause(ms);
  }

  /** Returns the platform's time, epoch milliseconds. */
  readonly now = (): number => this.current?.clients.files().now() ?? Date.now();

  /** Opens an access under a configuration, to be taken or closed. Throws `SyncError` with nothing left open. */
  async open(loaded: LoadedConfig): Promise<DaemonAccess> {
    const { target, env, log } = this.#base;
    this.#host ??= await openHost(target.emulator, loaded.config, 'sync');
    const access = new PlatformAccess({
      loaded,
      emulator: this.#host.emulator,
      env,
      clock: systemClock,
      notices: noticesIn(log),
      longestPauseMs: loaded.config.watch.rescanMs,
      onAnswer: this.#onAnswer,
    });
    try {
      // Fail now if a client or the control secret lacks something, not at its first use.
      access.clients.files();
      access.credentials.control();
      const input = { options: target, loaded, access, clock: systemClock, log };
      return { access, notifier: await Notifier.open({ ...input, howToApprove: 'approve' }) };
    } catch (error) {
      await access.close();
      throw error;
    }
  }

  /** Uses another access (see `ConnectionHolder`). Returns the previous one, which must be retired. */
  take(next: PlatformAccess): PlatformAccess | null {
    return this.#connections.take(next);
  }

  /** Closes an access once what runs on it has settled. */
  retire(access: PlatformAccess, settled: Promise<void> | undefined): void {
    this.#connections.retire(access, settled);
  }

  /** Closes everything. Failures are only logged. */
  async close(): Promise<void> {
    await this.#connections.close();
    try {
      await this.#host?.close();
    } catch (error) {
      this.#base.log.warn('the emulator could not be closed', { reason: (error as Error).message });
    }
  }
}

export type HeldConnection = Pick<PlatformAccess, 'fingerprint' | 'pausedForMs' | 'pause' | 'close'>;

/**
 * The daemon's connection to the platform, and earlier ones still in use. A connection that cannot be closed is logged,
 * and ends neither the daemon nor a reload.
 */
export class ConnectionHolder<Held extends HeldConnection> {
  readonly #log: Log;
  /** Earlier connections that are closing. */
  readonly #closing = new Set<Promise<void>>();
  #current: Held | null = null;

  constructor(log: Log) {
    this.#log = log;
  }

  /** `null` until `take` was called. */
  get current(): Held | null {
    return this.#current;
  }

  /**
   * Uses another connection, or closes it if it has the same addresses, secrets and settings as the current one.
   * Returns the previous connection, which must be retired once nothing new uses it; `null`: it stays in use.
   */
  take(next: Held): Held | null {
    const before = this.#current;
    if (before === next) return null;
    if (before?.fingerprint === next.fingerprint) {
      this.retire(next);
      return null;
    }
    // A pause that the platform asked for applies to the next connection too.
    next.pause(before?.pausedForMs() ?? 0);
    this.#current = next;
    return before;
  }

  /** Closes a connection once what runs on it has settled. */
  retire(connection: Held, settled: Promise<void> = Promise.resolve()): void {
    const closed = this.#close(connection, settled).finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }

  async close(): Promise<void> {
    if (this.#current !== null) this.retire(this.#current);
    this.#current = null;
    await Promise.all(this.#closing);
  }

  async #close(connection: Held, settled: Promise<void>): Promise<void> {
    // Its failures are handled where it runs.
    await settled.catch(() => undefined);
    try {
      await connection.close();
    } catch (error) {
      const reason = (error as Error).message;
      this.#log.warn('a connection to the platform could not be closed', { reason });
    }
  }
}
