import { setMaxListeners } from 'node:events';
import type { ClientConfig, DatabaseError as Answer, Pool } from 'pg';
import { databaseWords } from './database-words.ts';
import { Listening } from './listening.ts';

/** Runs one statement in a transaction of its own, and returns its rows. Throws `DatabaseError`. */
export type Sql = (text: string, values?: readonly unknown[]) => Promise<readonly SqlRow[]>;

/** A row by the names of its columns. */
export type SqlRow = Readonly<Record<string, unknown>>;

/**
 * The database did not answer, or refused.
 * - `unreachable`: whether the statement was run is unknown; it may be repeated.
 * - `refused`: repeating is useless until somebody changes something; `code` is PostgreSQL's.
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

/** Classes and codes of PostgreSQL that are transient (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const PASSING = /^(?:08...|53...|57P0[1-5]|57014|40001|40P01|25006|58...|XX000)$/u;

/** A shorter password may occur within ordinary words, and replacing it would reveal it. */
const SHORTEST_PASSWORD = 6;

/** The listening connection is checked after this many times the patience. */
const ASK_PATIENCES = 3;

export interface DatabaseSettings {
  /** From `connectionOf`. */
  readonly connection: ClientConfig;
  /** A statement without an answer fails after this time, milliseconds. */
  readonly patienceMs: number;
  /** The most connections at a time. */
  readonly connections: number;
}

/** Facts that a database reports about itself. */
export interface DatabaseHealth {
  readonly version: string;
  /** As PostgreSQL numbers its versions: 170010 is 17.10. */
  readonly versionNumber: number;
  /** A standby takes no writes. */
  readonly isStandby: boolean;
  readonly isFsyncOff: boolean;
  /** The setting `synchronous_commit`. */
  readonly commit: string;
  /** `synchronous_standby_names` is not empty. */
  readonly areStandbysNamed: boolean;
  /** Connected standbys. */
  readonly standbys: number;
}

/** The connections to the database. Statements are unnamed, so that a pooler may change the connection between them. */
export class ClusterDatabase {
  readonly #settings: DatabaseSettings;
  #pool: Pool | Promise<Pool> | null = null;
  /** The class of errors from the database itself; all others come from the connection. `null`: not loaded yet. */
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
        // A late answer must not go to the next statement on this connection.
        client.release(!isSound);
      }
    } catch (error) {
      throw this.#troubleOf(error);
    }
  };

  async health(): Promise<DatabaseHealth> {
    const [row] = await this.sql(
      `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::integer AS number,
         current_setting('synchronous_standby_names') AS names, current_setting('synchronous_commit') AS commit,
         current_setting('fsync') AS fsync, (SELECT count(*)::integer FROM pg_stat_replication) AS standbys,
         pg_is_in_recovery() AS is_standby`,
    );
    return {
      version: String(row?.['version']),
      versionNumber: Number(row?.['number']),
      isStandby: row?.['is_standby'] === true,
      isFsyncOff: row?.['fsync'] === 'off',
      commit: String(row?.['commit']),
      areStandbysNamed: row?.['names'] !== '',
      standbys: Number(row?.['standbys']),
    };
  }

  /** Returns the time by the database's clock, epoch milliseconds. */
  async nowMs(): Promise<number> {
    const [row] = await this.sql(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS now_ms',
    );
    return Number(row?.['now_ms']);
  }

  /**
   * Calls `told` for each notification on a channel until the signal aborts. A failed connection is replaced; notifications in
   * between are lost. All channels share one connection.
   *
   * @param pause - waits before a connection is replaced.
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
    // An idle connection was lost: the next statement gets another one.
    pool.on('error', () => undefined);
    // A connection that ends during a statement also emits an error event, which must have a listener.
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
    // The code alone is ambiguous: EPIPE of the system has five capital letters as well.
    const isAnswer = known !== null && this.#Answer !== null && error instanceof this.#Answer;
    const kind = isAnswer && !PASSING.test(known) ? 'refused' : 'unreachable';
    const { connection } = this.#settings;
    return new DatabaseError(kind, databaseWords(withoutPassword(said, connection), connection), known);
  }
}

/** Removes the password in every encoding that an address may have. */
function withoutPassword(said: string, { password }: ClientConfig): string {
  if (typeof password !== 'string' || password.length < SHORTEST_PASSWORD) return said;
  return [password, encodeURIComponent(password), encodeURI(password)].reduce(
    (text, form) => text.replaceAll(literally(form), '***'),
    said,
  );
}

/** Matches a text in either case: percent-encoding has digits of both. */
function literally(text: string): RegExp {
  return new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, '\\$&'), 'giu');
}
