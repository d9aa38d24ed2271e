import { quoted } from './schema.ts';

/**
 * The tables of request budgets, one statement each; every statement names the schema.
 *
 * `budget.version` is what makes one host's request exclude another's: whoever writes a share raises it from what it read.
 */
export function budgetTables(schema: string): string[] {
  const s = quoted(schema);
  return [
    // paused_until: by the database's clock; pause_ms: how long that pause was when it began.
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
  ];
}
