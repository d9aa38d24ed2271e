import { allTables } from '../../cluster/all-tables.ts';
import { LEDGER_VERSION, quoted } from '../../cluster/schema.ts';
import type { Sql } from '../../cluster/database.ts';
import { STATE_VERSION } from '../../state/schema.ts';
import { SyncError } from '../sync-error.ts';
import { asked, demandLedger, standingOfLedger, type Cluster } from './open-cluster.ts';

/** What became of a ledger: it was made, brought to this version, or was as it should be. */
export type LedgerMade = 'created' | 'updated' | 'unchanged';

/** Stands for the name of a role until somebody writes one. */
export const ROLE_PLACEHOLDER = 'YOUR_ROLE';

/** What a role of hosts has to be able to do with each table; with those that are not named, all of `EVERYTHING`. */
const RIGHTS: Readonly<Record<string, string>> = {
  meta: 'SELECT',
  target: 'SELECT, INSERT, UPDATE',
  unit: 'SELECT, INSERT, UPDATE',
};
const EVERYTHING = 'SELECT, INSERT, UPDATE, DELETE';

/**
 * Makes the tables of a cluster, or brings them to this version. What is as it should be is left alone, so that this takes no
 * right that a later start lacks; what was begun and interrupted is finished. Throws `SyncError`.
 */
export async function initLedger(cluster: Cluster): Promise<LedgerMade> {
  const { database, config } = cluster;
  const { schema } = config;
  const standing = await asked(() => standingOfLedger(database.sql, schema), config);
  switch (standing.kind) {
    case 'ready':
      if (await asked(() => isComplete(database.sql, schema), config)) return 'unchanged';
      await make(database.sql, schema);
      return 'updated';
    case 'newer':
      await demandLedger(cluster);
      throw new Error('a newer ledger was demanded and found');
    case 'none':
    case 'older':
      await make(database.sql, schema);
      return standing.kind === 'none' ? 'created' : 'updated';
  }
}

/** Whether all tables and functions are there: somebody may have dropped one. */
async function isComplete(sql: Sql, schema: string): Promise<boolean> {
  const functions = allTables(schema).flatMap(
    (text) => /^CREATE OR REPLACE FUNCTION ([^(]+)\(/u.exec(text)?.[1] ?? [],
  );
  const tables = tableRights(schema).map(([table]) => `${quoted(schema)}.${table}`);
  const [row] = await sql(
    `SELECT (SELECT bool_and(to_regclass(name) IS NOT NULL) FROM unnest($1::text[]) AS name)
       AND (SELECT bool_and(to_regproc(name) IS NOT NULL) FROM unnest($2::text[]) AS name) AS is_complete`,
    [tables, functions],
  );
  return row?.['is_complete'] === true;
}

async function make(sql: Sql, schema: string): Promise<void> {
  const question = async (): Promise<void> => {
    const [there] = await sql('SELECT to_regnamespace($1) IS NOT NULL AS is_there', [quoted(schema)]);
    // Whoever may not create schemas may not ask for one that is there either.
    const statements = allTables(schema).filter(
      (text) => !(there?.['is_there'] === true && text.startsWith('CREATE SCHEMA')),
    );
    for (const statement of statements) await sql(statement);
    // Last: it says that the rest is there.
    await sql(
      `INSERT INTO ${quoted(schema)}.meta (version, state_version) VALUES ($1, $2)
       ON CONFLICT (only_row) DO UPDATE SET version = excluded.version, state_version = excluded.state_version`,
      [LEDGER_VERSION, STATE_VERSION],
    );
  };
  try {
    await asked(question, { schema });
  } catch (error) {
    if (!(error instanceof SyncError) || !/permission denied/u.test(error.reason)) throw error;
    throw new SyncError('configuration', {
      place: error.place,
      reason: error.reason,
      fix: `run this once as a role that may create the schema "${schema}" (--database says where its address is), or create it for this one: CREATE SCHEMA ${quoted(schema)} AUTHORIZATION …`,
    });
  }
}

/** The statements that let a role do all that hosts do, and no more. */
export function grantsFor(schema: string, role: string | null): string[] {
  const to = role === null ? ROLE_PLACEHOLDER : quoted(role);
  const byRights = new Map<string, string[]>();
  for (const [table, rights] of tableRights(schema)) {
    byRights.set(rights, [...(byRights.get(rights) ?? []), `${quoted(schema)}.${table}`]);
  }
  return [
    `GRANT USAGE ON SCHEMA ${quoted(schema)} TO ${to};`,
    ...[...byRights].map(([rights, names]) => `GRANT ${rights} ON ${names.join(', ')} TO ${to};`),
    // Everybody has this, unless somebody has taken it away.
    `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${quoted(schema)} TO ${to};`,
  ];
}

/** The tables of the ledger with what a role of hosts has to be able to do with each. */
function tableRights(schema: string): [table: string, rights: string][] {
  const start = `CREATE TABLE IF NOT EXISTS ${quoted(schema)}.`;
  return allTables(schema).flatMap((text): [string, string][] => {
    if (!text.startsWith(start)) return [];
    const table = /^\w+/u.exec(text.slice(start.length))?.[0] ?? '';
    return [[table, RIGHTS[table] ?? EVERYTHING]];
  });
}

/** What the role of this connection lacks to work with the ledger, such as `INSERT on file`. Throws `DatabaseError`. */
export async function lackingRights(sql: Sql, schema: string): Promise<string[]> {
  const wanted = tableRights(schema).flatMap(([table, rights]) =>
    rights.split(', ').map((right) => ({ table, right })),
  );
  const rows = await sql(
    `SELECT wanted.right || ' on ' || wanted.table AS lacking
     FROM json_to_recordset($1) AS wanted ("table" text, "right" text)
     WHERE NOT has_table_privilege(format('%I.%I', $2::text, wanted.table), wanted.right)`,
    [JSON.stringify(wanted), schema],
  );
  return rows.map(({ lacking }) => String(lacking));
}
