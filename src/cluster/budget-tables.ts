import { quoted } from './schema.ts';

/**
 * The tables of request budgets, and the function that asks for a share, one statement each; every statement names the
 * schema.
 *
 * The function is there for its snapshots. A statement sees the tables as they were when it began, before it waited for a
 * lock; in a function that is volatile, each statement sees them as they are when that one begins. So hosts that ask at the same time
 * wait for each other at the row of the budget, and each then sees what the one before it was granted.
 */
export function budgetTables(schema: string): string[] {
  const s = quoted(schema);
  const mark = "(row.instance || ':' || row.beat)";
  return [
    // version: how often it was asked; paused_until: by the database's clock; pause_ms: how long that pause was when it began.
    `CREATE TABLE IF NOT EXISTS ${s}.budget (
       name         text PRIMARY KEY,
       version      bigint NOT NULL DEFAULT 0,
       paused_until timestamptz,
       pause_ms     double precision
     )`,
    // Rates are requests a second. written_at is for people to read: nothing is decided by it.
    `CREATE TABLE IF NOT EXISTS ${s}.budget_share (
       budget     text NOT NULL,
       host       text NOT NULL,
       instance   text NOT NULL,                -- one process
       beat       bigint NOT NULL,              -- of that process
       per_second double precision NOT NULL,    -- the limit in its configuration
       wanted     double precision NOT NULL,
       share      double precision NOT NULL,
       floor      double precision NOT NULL,
       written_at timestamptz NOT NULL,
       PRIMARY KEY (budget, host)
     )`,
    // Budget, host, instance, beat, limit, wanted, share and floor that are claimed, marks of silent hosts, of those to be
    // deleted, and of the row of this host that is taken over.
    `CREATE OR REPLACE FUNCTION ${s}.ask_share(
       text, text, text, bigint, double precision, double precision, double precision, double precision, text[], text[], text
     ) RETURNS json LANGUAGE plpgsql VOLATILE AS $ask$
     DECLARE
       reply json;
     BEGIN
       INSERT INTO ${s}.budget AS budget (name) VALUES ($1)
         ON CONFLICT (name) DO UPDATE SET version = budget.version + 1;
       DELETE FROM ${s}.budget_share AS row WHERE row.budget = $1 AND ${mark} = ANY ($10);
       WITH other AS MATERIALIZED (
         SELECT host, ${mark} AS mark, per_second AS "limit", wanted, share, floor, ${mark} = ANY ($9) AS is_silent
         FROM ${s}.budget_share AS row WHERE row.budget = $1 AND row.host <> $2),
       room AS (
         SELECT greatest(0, least($5, min("limit") FILTER (WHERE NOT is_silent))
           - coalesce(sum(CASE WHEN is_silent THEN floor ELSE share END), 0)) AS free FROM other),
       mine AS (
         INSERT INTO ${s}.budget_share AS row
           (budget, host, instance, beat, per_second, wanted, share, floor, written_at)
         SELECT $1, $2, $3, $4, $5, $6, least($7, free), least($8, $7, free), now() FROM room
         ON CONFLICT (budget, host) DO UPDATE SET instance = excluded.instance, beat = excluded.beat,
           per_second = excluded.per_second, wanted = excluded.wanted, share = excluded.share,
           floor = excluded.floor, written_at = excluded.written_at
         WHERE CASE WHEN row.instance = $3 THEN row.beat < $4 ELSE ${mark} = $11 END
         RETURNING share, floor)
       SELECT json_build_object('share', mine.share, 'floor', mine.floor,
         'found', (SELECT ${mark} FROM ${s}.budget_share AS row WHERE row.budget = $1 AND row.host = $2),
         'others', (SELECT coalesce(json_agg(other), '[]') FROM other),
         'paused', ${pausedMs(schema)})
       INTO reply FROM (SELECT) AS always LEFT JOIN mine ON true;
       RETURN reply;
     END $ask$`,
  ];
}

/**
 * An expression: what is left of the pause of budget $1, milliseconds, or NULL. A pause that a jump of the database's clock would
 * prolong is no longer than it was.
 */
export function pausedMs(schema: string): string {
  return `(SELECT greatest(0, least(pause_ms, extract(epoch FROM paused_until - clock_timestamp()) * 1000))::float8
    FROM ${quoted(schema)}.budget WHERE name = $1)`;
}
