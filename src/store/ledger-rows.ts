import type { Database } from './database.ts';

/** Tables that are not shipped as entries: the ledger has its own, and history belongs to a machine. */
const NOT_SHIPPED = new Set(['target', 'history', 'file', 'file_event', 'conversation']);

/** Tables with what one host sees: another host may see it differently. */
const OF_A_HOST = new Set(['source', 'mount']);

/** A table of the state file whose rows are shipped to the ledger. */
export interface ShippedTable {
  readonly name: string;
  readonly keyColumns: readonly ShippedColumn[];
  readonly columns: readonly ShippedColumn[];
  /** True if each host has its own rows. */
  readonly isOfHost: boolean;
}

interface ShippedColumn {
  readonly name: string;
  readonly isBlob: boolean;
  /** SQL of the default, for rows written before the column existed. */
  readonly fallback: string;
}

/** The table of files, which the ledger keeps apart: a key is unique over all units. */
export function fileTable(database: Database): ShippedTable {
  return tableOf(database, 'file');
}

/** All other shipped tables. */
export function entryTables(database: Database): ShippedTable[] {
  const rows = database
    .prepare(
      "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .all() as { name: string }[];
  return rows.filter(({ name }) => !NOT_SHIPPED.has(name)).map(({ name }) => tableOf(database, name));
}

function tableOf(database: Database, name: string): ShippedTable {
  const rows = database.prepare(`PRAGMA main.table_info(${name})`).all() as {
    name: string;
    type: string;
    pk: number;
    dflt_value: string | null;
  }[];
  const columns = rows.map((row) => ({
    name: row.name,
    isBlob: row.type === 'BLOB',
    fallback: row.dflt_value ?? 'NULL',
    pk: row.pk,
  }));
  const keys = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  const isOfHost = OF_A_HOST.has(name);
  if (keys.length > 0) return { name, keyColumns: keys, columns, isOfHost };
  const rowid = { name: 'rowid', isBlob: false, fallback: 'NULL' };
  return { name, keyColumns: [rowid], columns: [rowid, ...columns], isOfHost };
}

/** Returns SQL for a row as a JSON object; bytes as hexadecimal digits. */
export function bodyOf({ columns }: ShippedTable, row: string): string {
  const pairs = columns.map(
    ({ name, isBlob }) => `'${name}', ${isBlob ? hexOf(`${row}.${name}`) : `${row}.${name}`}`,
  );
  return `json_object(${pairs.join(', ')})`;
}

/** Returns SQL for the key of a row, as a JSON array. */
export function keyOf({ keyColumns }: ShippedTable, row: string): string {
  const values = keyColumns.map(({ name, isBlob }) => (isBlob ? hexOf(`${row}.${name}`) : `${row}.${name}`));
  return `json_array(${values.join(', ')})`;
}

/** Returns SQL that compares a row with a key of `keyOf`. */
export function isNamed({ keyColumns }: ShippedTable, row: string, key: string): string {
  return keyColumns
    .map(
      ({ name, isBlob }, at) => `${row}.${name} = ${isBlob ? `unhex(${key} ->> ${at})` : `${key} ->> ${at}`}`,
    )
    .join(' AND ');
}

/** Returns SQL that inserts rows from JSON objects. `body`: an expression over `json_each(?) AS each`. */
export function insertOf({ name, columns }: ShippedTable, body: string, where = 'true'): string {
  const values = columns.map(({ name: column, isBlob, fallback }) => {
    const value = isBlob ? `unhex(${body} ->> '${column}')` : `${body} ->> '${column}'`;
    return fallback === 'NULL' ? value : `coalesce(${value}, ${fallback})`;
  });
  return `INSERT INTO main.${name} (${columns.map((column) => column.name).join(', ')})
    SELECT ${values.join(', ')} FROM json_each(?) AS each WHERE ${where}`;
}

/** A row as a JSON object; bytes as hexadecimal digits. */
export type JsonRow = Readonly<Record<string, string | number | null | undefined>>;

/** Returns SQL that inserts one row; takes `valuesOf`. */
export function insertOneOf({ name, columns }: ShippedTable): string {
  const values = columns.map(({ fallback }) => (fallback === 'NULL' ? '?' : `coalesce(?, ${fallback})`));
  return `INSERT INTO main.${name} (${columns.map((column) => column.name).join(', ')}) VALUES (${values.join(', ')})`;
}

/** Returns the values of a row in the order of the columns. */
export function valuesOf({ columns }: ShippedTable, row: JsonRow): (string | number | Buffer | null)[] {
  return columns.map(({ name, isBlob }) => {
    const value = row[name] ?? null;
    return isBlob && typeof value === 'string' ? Buffer.from(value, 'hex') : value;
  });
}

function hexOf(column: string): string {
  return `iif(${column} IS NULL, NULL, hex(${column}))`;
}
