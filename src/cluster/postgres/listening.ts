import { Socket } from 'node:net';
import type { Client, ClientConfig, Notification } from 'pg';

/** The time for the server to close a connection, milliseconds: a connection that was cut off never closes. */
const FAREWELL_MS = 1000;

export interface Listener {
  readonly channel: string;
  readonly told: (payload: string) => void;
  /** Waits before a failed connection is replaced. */
  readonly pause: (signal: AbortSignal) => Promise<void>;
}

/** The one connection of a process that listens, for all channels. There is none without listeners. */
export class Listening {
  readonly #config: () => ClientConfig;
  readonly #closed: AbortSignal;
  readonly #askEveryMs: number;
  readonly #listeners = new Set<Listener>();
  #client: Client | null = null;
  /** The last statement on the connection. */
  #said: Promise<unknown> = Promise.resolve();
  #running: Promise<void> | null = null;
  /** Aborted when the last listener ends. */
  #needless = new AbortController();

  /**
   * @param closed - ends everything.
   * @param askEveryMs - the interval of checks of the connection, milliseconds: a listener does not notice a cut network, or a
   *   server without power, until the kernel probes it, hours later.
   */
  constructor(config: () => ClientConfig, closed: AbortSignal, askEveryMs: number) {
    this.#config = config;
    this.#closed = closed;
    this.#askEveryMs = askEveryMs;
  }

  /** Calls `told` until the signal aborts. Notifications without a connection are lost. */
  async listen(listener: Listener, until: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([this.#closed, until]);
    if (signal.aborted) return;
    const { channel } = listener;
    const isNew = !this.#isHeard(channel);
    this.#listeners.add(listener);
    if (isNew) this.#say(`LISTEN ${channel}`);
    this.#running ??= this.#run();
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => {
        resolve();
      });
    });
    this.#listeners.delete(listener);
    if (!this.#isHeard(channel)) this.#say(`UNLISTEN ${channel}`);
    if (this.#listeners.size > 0) return;
    this.#needless.abort();
    await this.#running;
  }

  /** Resolves once the connection is closed. Call it only after `closed` has aborted. */
  async ended(): Promise<void> {
    await this.#running;
  }

  #isHeard(channel: string): boolean {
    return [...this.#listeners].some((one) => one.channel === channel);
  }

  /** Runs statements one after the other. A connection that fails one is closed. */
  #say(statement: string): void {
    const client = this.#client;
    if (client === null) return;
    this.#said = this.#said
      .then(() => client.query(statement))
      .catch(() => {
        client.end().catch(() => undefined);
      });
  }

  async #run(): Promise<void> {
    for (;;) {
      this.#needless = new AbortController();
      const signal = AbortSignal.any([this.#closed, this.#needless.signal]);
      await this.#connect(signal).catch(() => undefined);
      const [first] = this.#listeners;
      if (first === undefined || this.#closed.aborted) break;
      await first.pause(signal);
    }
    this.#running = null;
  }

  /** Keeps a connection until it fails, or until the signal aborts. */
  async #connect(signal: AbortSignal): Promise<void> {
    const pg = (await import('pg')).default;
    const stream = new Socket();
    const client: Client = new pg.Client({ ...this.#config(), stream: () => stream });
    const end = async (): Promise<void> => {
      const late = setTimeout(() => stream.destroy(), FAREWELL_MS);
      await client.end().catch(() => undefined);
      clearTimeout(late);
    };
    const ended = new Promise<void>((resolve) => {
      client.on('end', resolve);
      client.on('error', () => {
        resolve();
      });
      signal.addEventListener('abort', () => {
        // Ends a connection that is still being made as well.
        void end();
        resolve();
      });
      if (signal.aborted) resolve();
    });
    client.on('notification', ({ channel, payload }: Notification) => {
      for (const one of [...this.#listeners]) if (one.channel === channel) one.told(payload ?? '');
    });
    const asking = setInterval(() => {
      this.#say('SELECT 1');
    }, this.#askEveryMs);
    try {
      await client.connect();
      // Later listeners run LISTEN themselves.
      this.#client = client;
      const channels = new Set([...this.#listeners].map(({ channel }) => channel));
      this.#say([...channels].map((channel) => `LISTEN ${channel}`).join('; '));
      await ended;
    } finally {
      clearInterval(asking);
      this.#client = null;
      await end();
    }
  }
}
