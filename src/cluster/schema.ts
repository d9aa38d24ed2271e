/**
 * The version of all tables of a cluster (`allTables`). Whatever is added to them or changed raises it: only then `cluster init` does
 * something where a ledger is already, and hosts say so before they meet a table that is not there. A statement must be one that can be
 * run on any version before: a table that exists gets no column by `CREATE TABLE IF NOT EXISTS`, it needs an `ALTER TABLE` of its own.
 */
export const LEDGER_VERSION = 1;

/** A name as SQL has it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * The tables of the ledger, one statement each. Every statement names the schema: a pooler may keep no search path.
 *
 * Rows of files and of all other tables of the state file are kept whole, as JSON (`body`), so that a ledger outlives changes of
 * the state file's columns. Keys may be longer than an index takes: they are looked up by their SHA-256.
 */
export function ledgerTables(schema: string): string[] {
  const s = quoted(schema);
  return [
    `CREATE SCHEMA IF NOT EXISTS ${s}`,
    `CREATE TABLE IF NOT EXISTS ${s}.meta (
       only_row      boolean PRIMARY KEY DEFAULT true CHECK (only_row),
       version       integer NOT NULL,        -- of these tables
       state_version integer NOT NULL         -- of the rows in them: the version of the state file
     )`,
    `CREATE TABLE IF NOT EXISTS ${s}.target (
       id       integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       base_url text NOT NULL,
       bot_id   text NOT NULL,
       identity text NOT NULL,
       UNIQUE (base_url, bot_id, identity)
     )`,
    // weight: of the units it is to have; units: names of those that its configuration has and whose directories it sees;
    // report: what it says of its sources.
    `CREATE TABLE IF NOT EXISTS ${s}.host (
       name     text PRIMARY KEY,
       instance text NOT NULL,                -- one process
       beat     bigint NOT NULL DEFAULT 0,
       weight   double precision NOT NULL,
       version  text NOT NULL,
       digest   text NOT NULL,                -- of the configuration, as far as hosts should agree
       units    json NOT NULL,
       report   json
     )`,
    // seq: shipments of this epoch and all before it; settled_at: all that was there then is on the platform, by the database's clock.
    `CREATE TABLE IF NOT EXISTS ${s}.unit (
       id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       target      integer NOT NULL REFERENCES ${s}.target (id),
       name        text NOT NULL,
       sources     json NOT NULL,             -- [{ name, keyPrefix }]
       pinned      text,                      -- the only host that works on it, by its own state file
       epoch       bigint NOT NULL DEFAULT 0,
       beat        bigint NOT NULL DEFAULT 0,
       seq         bigint NOT NULL DEFAULT 0,
       holder      text,                      -- the process; NULL: it is free
       holder_host text,                      -- its host, or the last one
       settled_at  bigint,                    -- epoch ms
       UNIQUE (target, name)
     )`,
    // Rows are written by one statement, which holds the row of their unit: that PostgreSQL looks both up once more for each row would be
    // a quarter of the work.
    `CREATE TABLE IF NOT EXISTS ${s}.file (
       target   integer NOT NULL,             -- that of its unit
       key_hash bytea NOT NULL,
       unit     integer NOT NULL,
       epoch    bigint NOT NULL,              -- in which it was written last
       state    text NOT NULL,
       body     json NOT NULL,
       PRIMARY KEY (target, key_hash)
     )`,
    `CREATE INDEX IF NOT EXISTS file_unit ON ${s}.file (unit, target, key_hash)`,
    // host: '' for rows that count on all of them.
    `CREATE TABLE IF NOT EXISTS ${s}.entry (
       unit     integer NOT NULL REFERENCES ${s}.unit (id),
       tbl      text NOT NULL,
       host     text NOT NULL,
       key_hash bytea NOT NULL,
       body     json NOT NULL,                -- as it was shipped, with the name of the table
       PRIMARY KEY (unit, tbl, host, key_hash)
     )`,
    // What a host wants of the holder of a unit.
    `CREATE TABLE IF NOT EXISTS ${s}.wish (
       id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       unit integer NOT NULL REFERENCES ${s}.unit (id) ON DELETE CASCADE,
       kind text NOT NULL,
       body json NOT NULL
     )`,
  ];
}
