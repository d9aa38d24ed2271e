import type { ShareAnswer, ShareRequest } from '../domain/share-holder.ts';
import type { ShareRow } from '../domain/share.ts';
import { pausedMs } from './budget-tables.ts';
import type { Sql, SqlRow } from './database.ts';
import { quoted } from './schema.ts';

/** Pauses are notified on this channel, which all hosts listen to: `{"budget", "host", "ms"}`. */
export const PAUSE_CHANNEL = 'botsync_pause';

/** Whose row it is. */
export interface ShareOwner {
  /** The name of the budget. */
  readonly budget: string;
  readonly host: string;
  /** Another for each process. */
  readonly instance: string;
}

/** What became of a request, and what is left of a pause that the platform asked any host for, milliseconds. */
export interface ShareReply {
  readonly answer: ShareAnswer;
  readonly pausedMs: number;
}

/** A host's share, for people to read. */
export interface ListedShare extends Omit<ShareRow, 'mark'> {
  /** How long ago its row was written, by the database's clock, milliseconds. */
  readonly ageMs: number;
}

/** The table of the shares of budgets. Methods throw `DatabaseError`. */
export class ShareTable {
  readonly #sql: Sql;
  readonly #schema: string;
  readonly #pausedMs: string;

  constructor(sql: Sql, schema: string) {
    this.#sql = sql;
    this.#schema = quoted(schema);
    this.#pausedMs = pausedMs(schema);
  }

  /** Carries out a request: one statement, which commits by itself (see `budgetTables`). */
  async carryOut({ budget, host, instance }: ShareOwner, request: ShareRequest): Promise<ShareReply> {
    const { beat, limit, wanted, claim, silentMarks, expelledMarks, successorOf } = request;
    const [row] = await this.#sql(
      `SELECT ${this.#schema}.ask_share($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) AS reply`,
      [
        ...[budget, host, instance, beat, limit, wanted, claim.share, claim.floor],
        ...[silentMarks, expelledMarks, successorOf],
      ],
    );
    if (row === undefined) throw new Error('no answer');
    const reply = row['reply'] as SqlRow;
    return { answer: toAnswer(reply), pausedMs: Number(reply['paused'] ?? 0) };
  }

  /** Takes the row of a process that ends out. */
  async leave({ budget, host, instance }: ShareOwner): Promise<void> {
    await this.#sql(
      `DELETE FROM ${this.#schema}.budget_share WHERE budget = $1 AND host = $2 AND instance = $3`,
      [budget, host, instance],
    );
  }

  /** Has all hosts pause: those that listen at once, the others with their next beats. */
  async pause({ budget, host }: Pick<ShareOwner, 'budget' | 'host'>, ms: number): Promise<void> {
    await this.#sql(
      `WITH longest AS (
         UPDATE ${this.#schema}.budget SET paused_until = clock_timestamp() + $2 * interval '1 ms', pause_ms = $2
         WHERE name = $1 AND (paused_until IS NULL OR paused_until < clock_timestamp() + $2 * interval '1 ms'
           OR paused_until > clock_timestamp() + pause_ms * interval '1 ms'))
       SELECT pg_notify($3, $4)`,
      [budget, ms, PAUSE_CHANNEL, JSON.stringify({ budget, host, ms })],
    );
  }

  /** All shares of a budget by the names of the hosts, for people to read, and what is left of a pause, milliseconds. */
  async list(
    budget: string,
  ): Promise<{ readonly shares: readonly ListedShare[]; readonly pausedMs: number }> {
    const rows = await this.#sql(
      `SELECT host, per_second AS "limit", wanted, share, floor,
         greatest(0, extract(epoch FROM clock_timestamp() - written_at) * 1000)::float8 AS age, ${this.#pausedMs} AS paused
       FROM ${this.#schema}.budget_share WHERE budget = $1 ORDER BY host`,
      [budget],
    );
    const shares = rows.map((row) => ({
      host: String(row['host']),
      ...ratesOf(row),
      ageMs: Number(row['age']),
    }));
    return { shares, pausedMs: Number(rows[0]?.['paused'] ?? 0) };
  }
}

function toAnswer(row: SqlRow): ShareAnswer {
  const others = (row['others'] as SqlRow[]).map((other) => ({
    host: String(other['host']),
    mark: String(other['mark']),
    ...ratesOf(other),
  }));
  if (row['share'] === null) return { kind: 'replaced', mark: String(row['found']), others };
  const grant = { share: Number(row['share']), floor: Number(row['floor']) };
  return { kind: 'granted', grant, others };
}

function ratesOf(row: SqlRow): Pick<ShareRow, 'limit' | 'wanted' | 'share' | 'floor'> {
  return {
    limit: Number(row['limit']),
    wanted: Number(row['wanted']),
    share: Number(row['share']),
    floor: Number(row['floor']),
  };
}
