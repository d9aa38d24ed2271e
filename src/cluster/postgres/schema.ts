import type { LedgerSchema, LedgerStanding } from '../shared-ledger.ts';
import type { Sql } from './sql.ts';

/**
 * The version of the tables in `ledgerTables`. Every change raises it: hosts then ask for `cluster init`, which sets a ledger of an
 * older version aside.
 */
export const LEDGER_VERSION = 3;

/** Quotes a name for SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * Returns the statements that create the ledger, one for each table. Every statement names the schema: a pooler may lose the search path.
 *
 * Rows of the state file are stored whole, as JSON (`body`), so that the ledger survives changes of the state file's columns. Keys may be
 * too long for an index: they are looked up by their SHA-256.
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
    // is_visitor: leaves after a pass; units: numbers of the units in its configuration that it would take; hindrances: why it
    // leaves some of them to others, see src/domain/hindrance.ts; report: the state of its sources; paused_until: end of a pause
    // that the platform asked for, by the database's clock.
    `CREATE TABLE IF NOT EXISTS ${s}.host (
       name     text PRIMARY KEY,
       instance text NOT NULL,                -- one process
       beat     bigint NOT NULL DEFAULT 0,
       is_visitor boolean NOT NULL,
       version  text NOT NULL,
       units    json NOT NULL,
       hindrances json NOT NULL,
       report   json,
       paused_until bigint NOT NULL DEFAULT 0  -- epoch ms
     )`,
    // seq: shipments of this and all earlier epochs; is_in_doubt: the database lost some of them, and the records were not
    // compared with the platform since; settled_at: everything older than this is on the platform, by the database's clock.
    `CREATE TABLE IF NOT EXISTS ${s}.unit (
       id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       target      integer NOT NULL REFERENCES ${s}.target (id),
       name        text NOT NULL,
       sources     json NOT NULL,             -- [{ name, keyPrefix }]
       epoch       bigint NOT NULL DEFAULT 0,
       beat        bigint NOT NULL DEFAULT 0,
       seq         bigint NOT NULL DEFAULT 0,
       is_in_doubt boolean NOT NULL DEFAULT false,
       holder      text,                      -- the process; NULL: it is free
       holder_host text,                      -- its host, or the last one
       settled_at  bigint,                    -- epoch ms
       UNIQUE (target, name)
     )`,
    // No foreign keys: one statement writes the rows while it holds the row of their unit, and checking both keys for each row
    // would be a quarter of the work.
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
    // The conversations created for notifications; all units use them.
    `CREATE TABLE IF NOT EXISTS ${s}.conversation (
       purpose text PRIMARY KEY,              -- canonical JSON of what it was created from
       id      text NOT NULL,
       proven  boolean NOT NULL DEFAULT false -- a message has arrived there
     )`,
    // The configuration of each source in force on all hosts, and the last one that each host offered, even if the host has left:
    // JSON whose text is equal where the configuration is.
    `CREATE TABLE IF NOT EXISTS ${s}.source (
       name     text PRIMARY KEY,
       settings text NOT NULL
     )`,
    `CREATE TABLE IF NOT EXISTS ${s}.brought (
       host     text NOT NULL,
       source   text NOT NULL,
       settings text NOT NULL,
       PRIMARY KEY (host, source)
     )`,
    // A command for the holder of a unit.
    `CREATE TABLE IF NOT EXISTS ${s}.wish (
       id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       unit integer NOT NULL REFERENCES ${s}.unit (id) ON DELETE CASCADE,
       kind text NOT NULL,
       body json NOT NULL
     )`,
  ];
}

/** The role in printed statements when none is named. */
const ROLE_PLACEHOLDER = 'YOUR_ROLE';

/** The rights of hosts on each table; on tables that are not named here they have `EVERYTHING`. */
const RIGHTS: Readonly<Record<string, string>> = {
  meta: 'SELECT',
  target: 'SELECT, INSERT, UPDATE',
  unit: 'SELECT, INSERT, UPDATE',
  source: 'SELECT, INSERT, UPDATE',
  brought: 'SELECT, INSERT, UPDATE',
};
const EVERYTHING = 'SELECT, INSERT, UPDATE, DELETE';

/** Creates and checks the tables of the ledger. Methods throw `DatabaseError`. */
export class LedgerTables implements LedgerSchema {
  readonly version = LEDGER_VERSION;
  readonly rolePlaceholder = ROLE_PLACEHOLDER;
  readonly #sql: Sql;
  readonly #schema: string;

  constructor(sql: Sql, schema: string) {
    this.#sql = sql;
    this.#schema = schema;
  }

  /** @param stateVersion - the version of rows that this botsync writes. */
  async standing(stateVersion: number): Promise<LedgerStanding> {
    const s = quoted(this.#schema);
    const [known] = await this.#sql('SELECT to_regclass($1) AS meta', [`${s}.meta`]);
    if (known?.['meta'] === null) return { kind: 'none', version: 0 };
    const [row] = await this.#sql(`SELECT version, state_version FROM ${s}.meta`);
    if (row === undefined) return { kind: 'none', version: 0 };
    const [version, theirs] = [Number(row['version']), Number(row['state_version'])];
    if (version > LEDGER_VERSION || theirs > stateVersion) return { kind: 'newer', version };
    return version < LEDGER_VERSION || theirs < stateVersion ? { kind: 'older', version } : { kind: 'ready' };
  }

  /** Returns whether all tables exist: somebody may have dropped one. */
  async isComplete(): Promise<boolean> {
    const tables = tableRights(this.#schema).map(([table]) => `${quoted(this.#schema)}.${table}`);
    const [row] = await this.#sql(
      'SELECT bool_and(to_regclass(name) IS NOT NULL) AS is_complete FROM unnest($1::text[]) AS name',
      [tables],
    );
    return row?.['is_complete'] === true;
  }

  /** Creates the tables that are missing. */
  async create(stateVersion: number): Promise<void> {
    const s = quoted(this.#schema);
    const [there] = await this.#sql('SELECT to_regnamespace($1) IS NOT NULL AS is_there', [s]);
    // A role that may not create schemas may not ask for an existing one either.
    const statements = ledgerTables(this.#schema).filter(
      (text) => !(there?.['is_there'] === true && text.startsWith('CREATE SCHEMA')),
    );
    for (const statement of statements) await this.#sql(statement);
    // Last: it says that the rest exists.
    await this.#sql(
      `INSERT INTO ${s}.meta (version, state_version) VALUES ($1, $2)
       ON CONFLICT (only_row) DO UPDATE SET version = excluded.version, state_version = excluded.state_version`,
      [LEDGER_VERSION, stateVersion],
    );
  }

  /** Returns the statement that renames the ledger's schema, to set the ledger aside. */
  renaming(name: string): string {
    return `ALTER SCHEMA ${quoted(this.#schema)} RENAME TO ${quoted(name)}`;
  }

  async rename(name: string): Promise<void> {
    await this.#sql(this.renaming(name));
  }

  /** See `LedgerSchema`. */
  grants(role: string | null): string[] {
    const schema = this.#schema;
    const to = role === null ? ROLE_PLACEHOLDER : quoted(role);
    const byRights = new Map<string, string[]>();
    for (const [table, rights] of tableRights(schema)) {
      byRights.set(rights, [...(byRights.get(rights) ?? []), `${quoted(schema)}.${table}`]);
    }
    return [
      `GRANT USAGE ON SCHEMA ${quoted(schema)} TO ${to};`,
      ...[...byRights].map(([rights, names]) => `GRANT ${rights} ON ${names.join(', ')} TO ${to};`),
    ];
  }

  get making(): string {
    return `CREATE SCHEMA ${quoted(this.#schema)} AUTHORIZATION …`;
  }

  /** Returns the rights that this connection's role lacks to work with the ledger, such as `INSERT on file`. */
  async lackingRights(): Promise<string[]> {
    const wanted = tableRights(this.#schema).flatMap(([table, rights]) =>
      rights.split(', ').map((right) => ({ table, right })),
    );
    const rows = await this.#sql(
      `SELECT wanted.right || ' on ' || wanted.table AS lacking
       FROM json_to_recordset($1) AS wanted ("table" text, "right" text)
       WHERE NOT has_table_privilege(format('%I.%I', $2::text, wanted.table), wanted.right)`,
      [JSON.stringify(wanted), this.#schema],
    );
    return rows.map(({ lacking }) => String(lacking));
  }
}

/** Returns the tables of the ledger with the rights of hosts on each. */
function tableRights(schema: string): [table: string, rights: string][] {
  const start = `CREATE TABLE IF NOT EXISTS ${quoted(schema)}.`;
  return ledgerTables(schema).flatMap((text): [string, string][] => {
    if (!text.startsWith(start)) return [];
    const table = /^\w+/u.exec(text.slice(start.length))?.[0] ?? '';
    return [[table, RIGHTS[table] ?? EVERYTHING]];
  });
}
