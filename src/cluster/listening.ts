import { Socket } from 'node:net';
import type { Client, ClientConfig, Notification } from 'pg';

/** A server that is bidden farewell is given so long to close the connection, milliseconds: one that is cut off never does. */
const FAREWELL_MS = 1000;

/** Somebody who is told what is notified on a channel. */
export interface Listener {
  readonly channel: string;
  readonly told: (payload: string) => void;
  /** Waits before a connection that failed is made again. */
  readonly pause: (signal: AbortSignal) => Promise<void>;
}

/** The one connection by which a process hears what is notified, whatever the number of channels. There is none while nobody listens. */
export class Listening {
  readonly #config: () => ClientConfig;
  readonly #closed: AbortSignal;
  readonly #askEveryMs: number;
  readonly #listeners = new Set<Listener>();
  #client: Client | null = null;
  /** What the connection was told to do. */
  #said: Promise<unknown> = Promise.resolve();
  #running: Promise<void> | null = null;
  /** Ends the connection when nobody listens any more. */
  #needless = new AbortController();

  /**
   * @param closed - ends everything.
   * @param askEveryMs - after which the connection is asked whether it still leads to the database, milliseconds: whoever only listens
   *   hears nothing of a network that is cut, or of a server that lost its power, until the kernel asks, hours later.
   */
  constructor(config: () => ClientConfig, closed: AbortSignal, askEveryMs: number) {
    this.#config = config;
    this.#closed = closed;
    this.#askEveryMs = askEveryMs;
  }

  /** Has somebody told until the signal aborts. What is notified while there is no connection is lost. */
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

  /** Resolves once there is no connection any more; only after the end of everything. */
  async ended(): Promise<void> {
    await this.#running;
  }

  #isHeard(channel: string): boolean {
    return [...this.#listeners].some((one) => one.channel === channel);
  }

  /** One statement after the other. A connection that cannot do it is of no use. */
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
        // Also one that is still being made.
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
      // Whoever comes from now on says so by itself.
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
