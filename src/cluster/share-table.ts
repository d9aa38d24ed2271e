import type { ShareAnswer, ShareRequest } from '../domain/share-holder.ts';
import type { ShareRow } from '../domain/share.ts';
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

/**
 * What became of a request.
 * - `answered`: `pausedMs` is what is left of a pause that the platform asked any host for, milliseconds.
 * - `overtaken`: another host's was quicker; nothing was written.
 * - `no-budget`: there is no row of that budget yet; nothing was written.
 */
export type ShareReply =
  | { readonly kind: 'answered'; readonly answer: ShareAnswer; readonly pausedMs: number }
  | { readonly kind: 'overtaken' | 'no-budget' };

/** A host's share, for people to read. */
export interface ListedShare extends Omit<ShareRow, 'mark'> {
  /** How long ago its row was written, by the database's clock, milliseconds. */
  readonly ageMs: number;
}

/** The table of the shares of budgets. Methods throw `DatabaseError`. */
export class ShareTable {
  readonly #sql: Sql;
  readonly #schema: string;

  constructor(sql: Sql, schema: string) {
    this.#sql = sql;
    this.#schema = quoted(schema);
  }

  /** Begins a budget, unless there is one of that name. */
  async begin(budget: string): Promise<void> {
    await this.#sql(`INSERT INTO ${this.#schema}.budget (name) VALUES ($1) ON CONFLICT DO NOTHING`, [budget]);
  }

  /**
   * Carries out a request, in one statement that commits by itself.
   *
   * A statement sees the rows as they were when it began. It writes only if it can raise the version that it saw: if
   * another one has written since, or does so while this one waits for the lock, PostgreSQL compares again with the version that
   * was written, and there is no row to update. So what it saw of the shares is what there is.
   */
  async carryOut({ budget, host, instance }: ShareOwner, request: ShareRequest): Promise<ShareReply> {
    const { beat, limit, wanted, claim, silentMarks, expelledMarks, successorOf } = request;
    const s = this.#schema;
    const [row] = await this.#sql(
      `WITH seen AS MATERIALIZED (SELECT version FROM ${s}.budget WHERE name = $1),
       turn AS (
         UPDATE ${s}.budget AS budget SET version = budget.version + 1 FROM seen
         WHERE budget.name = $1 AND budget.version = seen.version RETURNING 1),
       expelled AS (
         DELETE FROM ${s}.budget_share AS row USING turn
         WHERE row.budget = $1 AND ${mark('row')} = ANY ($10::text[])),
       other AS MATERIALIZED (
         SELECT host, ${mark('row')} AS mark, per_second AS "limit", wanted, share, floor,
           ${mark('row')} = ANY ($9::text[]) AS is_silent
         FROM ${s}.budget_share AS row
         WHERE budget = $1 AND host <> $2 AND NOT ${mark('row')} = ANY ($10::text[])),
       room AS (
         SELECT greatest(0, least($5, min("limit") FILTER (WHERE NOT is_silent))
           - coalesce(sum(CASE WHEN is_silent THEN floor ELSE share END), 0)) AS free FROM other),
       mine AS (
         INSERT INTO ${s}.budget_share AS row
           (budget, host, instance, beat, per_second, wanted, share, floor, written_at)
         SELECT $1, $2, $3, $4, $5, $6, least($7, free), least($8, $7, free), now() FROM room, turn
         ON CONFLICT (budget, host) DO UPDATE SET instance = excluded.instance, beat = excluded.beat,
           per_second = excluded.per_second, wanted = excluded.wanted, share = excluded.share,
           floor = excluded.floor, written_at = excluded.written_at
         WHERE CASE WHEN row.instance = $3 THEN row.beat < $4 ELSE ${mark('row')} = $11 END
         RETURNING share, floor)
       SELECT (SELECT count(*)::int FROM seen) AS seen, (SELECT count(*)::int FROM turn) AS turn,
         mine.share, mine.floor,
         (SELECT ${mark('row')} FROM ${s}.budget_share AS row WHERE budget = $1 AND host = $2) AS found,
         (SELECT coalesce(json_agg(other), '[]') FROM other) AS others, ${pausedMs(s)} AS paused
       FROM (SELECT) AS always LEFT JOIN mine ON true`,
      [
        ...[budget, host, instance, beat, limit, wanted, claim.share, claim.floor],
        ...[silentMarks, expelledMarks, successorOf],
      ],
    );
    if (row === undefined) throw new Error('no answer');
    if (row['seen'] === 0) return { kind: 'no-budget' };
    if (row['turn'] === 0) return { kind: 'overtaken' };
    return { kind: 'answered', answer: toAnswer(row), pausedMs: Number(row['paused'] ?? 0) };
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
    const s = this.#schema;
    const rows = await this.#sql(
      `SELECT host, per_second AS "limit", wanted, share, floor,
         greatest(0, extract(epoch FROM clock_timestamp() - written_at) * 1000)::float8 AS age, ${pausedMs(s)} AS paused
       FROM ${s}.budget_share WHERE budget = $1 ORDER BY host`,
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

/** Another with each beat. */
function mark(row: string): string {
  return `(${row}.instance || ':' || ${row}.beat)`;
}

/** What is left of the pause. One that a jump of the database's clock would prolong is no longer than it was. */
function pausedMs(schema: string): string {
  return `(SELECT greatest(0, least(pause_ms, extract(epoch FROM paused_until - clock_timestamp()) * 1000))::float8
    FROM ${schema}.budget WHERE name = $1)`;
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
