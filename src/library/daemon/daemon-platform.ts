import type { LoadedConfig } from '../../config/load-config.ts';
import type { Log } from '../../service/logger.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { RunTarget } from '../run-base.ts';
import { noticesIn, openHost, PlatformAccess, type PlatformHost } from '../platform/platform-access.ts';
import { Notifier } from '../notifier.ts';
import type { CountedAnswer } from '../../platform/pacer.ts';

/** The way to the platform under one configuration, and what tells people over it. */
export interface DaemonAccess {
  readonly access: PlatformAccess;
  /** `null`: people are told nothing. */
  readonly notifier: Notifier | null;
}

/** A daemon's ways to the platform, one configuration after the other; the emulator in its place is one for all of them. */
export class DaemonPlatform {
  readonly #options: RunTarget;
  readonly #env: NodeJS.ProcessEnv;
  readonly #log: Log;
  readonly #onAnswer: (answer: CountedAnswer) => void;
  readonly #connections: ConnectionHolder<PlatformAccess>;
  #host: PlatformHost | null = null;

  /**
   * @param env - where secrets and proxies are named.
   * @param onAnswer - told of every answer of the platform.
   */
  constructor(
    options: RunTarget,
    env: NodeJS.ProcessEnv,
    log: Log,
    onAnswer: (answer: CountedAnswer) => void,
  ) {
    this.#options = options;
    this.#env = env;
    this.#log = log;
    this.#onAnswer = onAnswer;
    this.#connections = new ConnectionHolder(log);
  }

  /** The way that is used; `null` until the first one is taken. */
  get current(): PlatformAccess | null {
    return this.#connections.current;
  }

  /** Opens the way under a configuration, to be taken or closed. Throws `SyncError`; nothing is open then. */
  async open(loaded: LoadedConfig): Promise<DaemonAccess> {
    const log = this.#log;
    this.#host ??= await openHost(this.#options.emulator, loaded.config, 'sync');
    const access = new PlatformAccess({
      loaded,
      emulator: this.#host.emulator,
      env: this.#env,
      clock: systemClock,
      notices: noticesIn(log),
      longestPauseMs: loaded.config.watch.rescanMs,
      onAnswer: this.#onAnswer,
    });
    try {
      // What it takes is found to be missing now, not when it is needed.
      access.clients.files();
      access.credentials.control();
      const input = { options: this.#options, loaded, access, clock: systemClock, log };
      return { access, notifier: await Notifier.open({ ...input, howToApprove: 'approve' }) };
    } catch (error) {
      await access.close();
      throw error;
    }
  }

  /** Goes on by another way (see `ConnectionHolder`). Returns the one before, which is to be retired. */
  take(next: PlatformAccess): PlatformAccess | null {
    return this.#connections.take(next);
  }

  /** Closes a way once what is running by it has settled. */
  retire(access: PlatformAccess, settled: Promise<void> | undefined): void {
    this.#connections.retire(access, settled);
  }

  /** Closes everything. A failure is logged: it is no reason to end otherwise. */
  async close(): Promise<void> {
    await this.#connections.close();
    try {
      await this.#host?.close();
    } catch (error) {
      this.#log.warn('the emulator could not be closed', { reason: (error as Error).message });
    }
  }
}

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
