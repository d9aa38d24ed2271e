import { setMaxListeners } from 'node:events';
import type { ClientConfig, DatabaseError as Answer, Pool } from 'pg';
import { DatabaseError, type DatabaseFacts, type LedgerDatabase } from '../shared-ledger.ts';
import { adviceFor, isNeverTaken, NO_RIGHT } from './advice.ts';
import { databaseWords } from './database-words.ts';
import { readFacts } from './facts.ts';
import type { Sql, SqlRow } from './sql.ts';
import { Listening } from './listening.ts';

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

/** The connections to the database. Statements are unnamed, so that a pooler may change the connection between them. */
export class ClusterDatabase implements LedgerDatabase {
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

  facts(): Promise<DatabaseFacts> {
    return readFacts(this.sql);
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
    const words = databaseWords(withoutPassword(said, connection), connection);
    return new DatabaseError(kind, words, {
      isForbidden: kind === 'refused' && known === NO_RIGHT,
      isFinal: kind === 'refused' && known !== null && isNeverTaken(known),
      fix: adviceFor(kind, known, words),
    });
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
