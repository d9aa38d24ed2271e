import { setMaxListeners } from 'node:events';
import type { ClientConfig, DatabaseError as Answer, Pool } from 'pg';
import { databaseWords } from './database-words.ts';
import { Listening } from './listening.ts';

/** Runs one statement, committed by itself, and gives its rows. Throws `DatabaseError`. */
export type Sql = (text: string, values?: readonly unknown[]) => Promise<readonly SqlRow[]>;

/** A row by the names of its columns. */
export type SqlRow = Readonly<Record<string, unknown>>;

/**
 * Why the database did not do what it was asked.
 * - `unreachable`: nobody knows whether it did; it may be asked again.
 * - `refused`: it will not, until somebody changes something; `code` is PostgreSQL's.
 */
export class DatabaseError extends Error {
  readonly kind: 'unreachable' | 'refused';
  readonly code: string | null;

  constructor(kind: DatabaseError['kind'], message: string, code: string | null) {
    super(message);
    this.name = 'DatabaseError';
    this.kind = kind;
    this.code = code;
  }
}

/** Classes and codes of PostgreSQL that pass by themselves (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const PASSING = /^(?:08...|53...|57P0[1-5]|57014|40001|40P01|25006|58...|XX000)$/u;

/** The database undoes a transaction in which nothing was asked for so long: whoever began it was stopped. */
const LONGEST_PAUSE_MS = 30_000;

/** A shorter password would be found within ordinary words, and be told by what is missing there. */
const SHORTEST_PASSWORD = 6;

/** The connection that listens is asked for a sign of life after so many times the patience for an answer. */
const ASK_PATIENCES = 3;

/** How a database is reached. */
export interface DatabaseSettings {
  /** What `connectionOf` made. */
  readonly connection: ClientConfig;
  /** A statement without an answer is given up after so long, milliseconds. */
  readonly patienceMs: number;
  /** Most connections at a time. */
  readonly connections: number;
}

/** The connections to the database. Statements are prepared under no name, so that a pooler may hand out its own. */
export class ClusterDatabase {
  readonly #settings: DatabaseSettings;
  #pool: Pool | Promise<Pool> | null = null;
  /** What the database itself answers; every other error is of the connection. `null`: it was not asked yet. */
  #Answer: typeof Answer | null = null;
  readonly #closed = new AbortController();
  readonly #listening: Listening;

  constructor(settings: DatabaseSettings) {
    this.#settings = settings;
    setMaxListeners(0, this.#closed.signal);
    this.#listening = new Listening(
      () => this.#config(),
      this.#closed.signal,
      ASK_PATIENCES * settings.patienceMs,
    );
  }

  /** See `Sql`. */
  readonly sql: Sql = async (text, values = []) => {
    try {
      const client = await (await this.#open()).connect();
      let isSound = false;
      try {
        const { rows } = await client.query<SqlRow>({ text, values: [...values] });
        isSound = true;
        return rows;
      } finally {
        // One that did not answer in time may still do so: nobody else is to have that answer.
        client.release(!isSound);
      }
    } catch (error) {
      throw this.#troubleOf(error);
    }
  };

  /**
   * Runs statements all of which are committed together, or none where the task throws. For what a person has asked for and
   * is over in seconds, never for what a host does under a lease: whoever is stopped in the midst of it keeps others waiting.
   */
  async transaction<T>(task: (sql: Sql) => Promise<T>): Promise<T> {
    const client = await this.#open()
      .then((pool) => pool.connect())
      .catch((error: unknown) => {
        throw this.#troubleOf(error);
      });
    const sql: Sql = async (text, values = []) => {
      try {
        return (await client.query<SqlRow>({ text, values: [...values] })).rows;
      } catch (error) {
        throw this.#troubleOf(error);
      }
    };
    try {
      await sql('BEGIN');
      await sql(`SET LOCAL idle_in_transaction_session_timeout = ${LONGEST_PAUSE_MS}`);
      const result = await task(sql);
      await sql('COMMIT');
      client.release();
      return result;
    } catch (error) {
      // The end of the connection undoes all of it.
      client.release(true);
      throw error;
    }
  }

  /**
   * Is told what is notified on a channel, until the signal aborts, for as long as the connection stands; it is made again when
   * it fails. All channels share one connection.
   *
   * @param pause - waits before that.
   */
  listen(
    channel: string,
    told: (payload: string) => void,
    pause: (signal: AbortSignal) => Promise<void>,
    until: AbortSignal,
  ): Promise<void> {
    return this.#listening.listen({ channel, told, pause }, until);
  }

  /** Closes all connections; statements under way fail. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#listening.ended();
    const pool = await this.#pool;
    this.#pool = null;
    await pool?.end();
  }

  async #open(): Promise<Pool> {
    this.#pool ??= this.#create();
    return await this.#pool;
  }

  async #create(): Promise<Pool> {
    const pg = (await import('pg')).default;
    this.#Answer = pg.DatabaseError;
    const pool = new pg.Pool({ ...this.#config(), max: this.#settings.connections, allowExitOnIdle: true });
    // A connection that nobody uses just now has gone: the next statement gets another.
    pool.on('error', () => undefined);
    // One that ends under a statement says so by itself as well, which nobody else hears.
    pool.on('connect', (client) => {
      client.on('error', () => undefined);
    });
    return pool;
  }

  #config(): ClientConfig {
    const { connection, patienceMs } = this.#settings;
    return {
      ...connection,
      connectionTimeoutMillis: patienceMs,
      query_timeout: patienceMs,
      keepAlive: true,
    };
  }

  #troubleOf(error: unknown): DatabaseError {
    const { code, message } = error as { code?: unknown; message?: unknown };
    const known = typeof code === 'string' ? code : null;
    const said = typeof message === 'string' && message !== '' ? message : (known ?? 'no answer');
    // The code alone does not tell: the system has one of five capitals as well, EPIPE.
    const isAnswer = known !== null && this.#Answer !== null && error instanceof this.#Answer;
    const kind = isAnswer && !PASSING.test(known) ? 'refused' : 'unreachable';
    const { connection } = this.#settings;
    return new DatabaseError(kind, databaseWords(withoutPassword(said, connection), connection), known);
  }
}

/** What a server or a pooler says, without the password in any way in which an address may have it. */
function withoutPassword(said: string, { password }: ClientConfig): string {
  if (typeof password !== 'string' || password.length < SHORTEST_PASSWORD) return said;
  return [password, encodeURIComponent(password), encodeURI(password)].reduce(
    (text, form) => text.replaceAll(literally(form), '***'),
    said,
  );
}

/** Finds a text in either case: what is encoded may have its digits in both. */
function literally(text: string): RegExp {
  return new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, '\\$&'), 'giu');
}
