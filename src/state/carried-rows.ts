import { guarded, type Database } from './database.ts';
import { bodyOf, entryTables, fileTable, keyOf, type ShippedTable } from './ledger-rows.ts';

/** Which rows of a state file go elsewhere: those of some sources of one target. */
export interface CarriedPart {
  readonly sources: readonly string[];
  /** The number of the target in the state file; `null`: it was never used, and there are no files. */
  readonly target: number | null;
  /** Its number where the rows go. */
  readonly asTarget: number;
}

/** So many rows as one JSON array. */
export interface CarriedRows {
  readonly rows: string;
  readonly count: number;
}

/** An array is full at this many rows, or this many characters. */
const MOST_ROWS = 3000;
const MOST_CHARACTERS = 2_000_000;

/** Tables whose rows are of one source; those of other tables count for all of the state file. */
const TABLES_OF_SOURCES = ['file', 'source', 'mount', 'problem', 'removal', 'rereading', 'adoption'];

/** The files of a part as JSON arrays, in the order of sources and paths. Throws `StateFileError`. */
export function* carriedFiles(database: Database, part: CarriedPart): Generator<CarriedRows> {
  if (part.target === null) return;
  const table = fileTable(database);
  const sql = `SELECT ${bodyOf(table, 'row')} AS body, source, path, key FROM (${selectOf(table, part)}) AS row
    WHERE (source, path, key) > (?, ?, ?) ORDER BY source, path, key LIMIT ${MOST_ROWS}`;
  let after: readonly string[] = ['', '', ''];
  for (;;) {
    const rows = readAll<FileRow>(database, sql, [...valuesOf(table, part), ...after]);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = [last.source, last.path, last.key];
    yield* arraysOf(rows);
  }
}

/** All other rows of a part, and those that are of no source, as JSON arrays like `Shipment.entries`. Throws `StateFileError`. */
export function* carriedEntries(database: Database, part: CarriedPart): Generator<CarriedRows> {
  for (const table of entryTables(database)) {
    const key = keyOf(table, 'row');
    const body = `json_object('tbl', '${table.name}', 'key', ${key},
      'ofHost', ${Number(table.isOfHost)}, 'body', json(${bodyOf(table, 'row')}))`;
    const sql = `SELECT ${body} AS body FROM (${selectOf(table, part)}) AS row ORDER BY ${key}`;
    yield* arraysOf(readAll<BodyRow>(database, sql, valuesOf(table, part)));
  }
}

interface BodyRow {
  readonly body: string;
}

interface FileRow extends BodyRow {
  readonly source: string;
  readonly path: string;
  readonly key: string;
}

function readAll<Row>(database: Database, sql: string, values: readonly (string | number)[]): Row[] {
  return guarded(() => database.prepare(sql).all(...values) as Row[]);
}

function* arraysOf(rows: readonly BodyRow[]): Generator<CarriedRows> {
  let bodies: string[] = [];
  let characters = 0;
  for (const { body } of rows) {
    bodies.push(body);
    characters += body.length;
    if (bodies.length < MOST_ROWS && characters < MOST_CHARACTERS) continue;
    yield { rows: `[${bodies.join(',')}]`, count: bodies.length };
    [bodies, characters] = [[], 0];
  }
  if (bodies.length > 0) yield { rows: `[${bodies.join(',')}]`, count: bodies.length };
}

/** How many files of a part there are, by their state. Throws `StateFileError`. */
export function countByState(database: Database, { sources, target }: CarriedPart): Map<string, number> {
  if (target === null) return new Map();
  const sql = `SELECT state, count(*) AS count FROM file WHERE source IN (${marks(sources)}) AND target = ? GROUP BY state`;
  const rows = guarded(
    () => database.prepare(sql).all(...sources, target) as { state: string; count: number }[],
  );
  return new Map(rows.map(({ state, count }) => [state, count]));
}

/** Removes what was carried elsewhere, but for what is of no source. Throws `StateFileError`. */
export function dropCarried(database: Database, parts: readonly CarriedPart[]): void {
  guarded(() => {
    database.exec('BEGIN');
    for (const part of parts) {
      for (const table of [fileTable(database), ...entryTables(database)].filter(isOfSources)) {
        if (part.target === null && hasColumn(table, 'target')) continue;
        const { condition } = conditionOf(table, part);
        database.prepare(`DELETE FROM ${table.name} WHERE ${condition}`).run(...valuesOf(table, part));
      }
    }
    database.exec('DELETE FROM suspect WHERE (target, key) NOT IN (SELECT target, key FROM file); COMMIT;');
  });
}

/** Whether there is anything of sources, or any history. Throws `StateFileError`. */
export function hasRowsOfSources(database: Database): boolean {
  return guarded(() =>
    [...TABLES_OF_SOURCES, 'history'].some(
      (table) => database.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined,
    ),
  );
}

/** The rows of a table that belong to a part, with its number of the target; binds `valuesOf`. */
function selectOf(table: ShippedTable, part: CarriedPart): string {
  const columns = table.columns.map(({ name }) =>
    name === 'target' ? `${part.asTarget} AS target` : `${name} AS ${name}`,
  );
  return `SELECT ${columns.join(', ')} FROM main.${table.name} WHERE ${conditionOf(table, part).condition}`;
}

interface Condition {
  readonly condition: string;
  /** What it binds, in its order. */
  readonly binds: readonly ('sources' | 'target')[];
}

function conditionOf(table: ShippedTable, { sources }: CarriedPart): Condition {
  const list = marks(sources);
  if (table.name === 'source') return { condition: `name IN (${list})`, binds: ['sources'] };
  const isKnown = hasColumn(table, 'source');
  if (isKnown && hasColumn(table, 'target'))
    return { condition: `source IN (${list}) AND target = ?`, binds: ['sources', 'target'] };
  if (isKnown) return { condition: `source IN (${list})`, binds: ['sources'] };
  const isOfFile = `key IN (SELECT key FROM main.file AS of WHERE of.source IN (${list}) AND of.target = ${table.name}.target)`;
  if (table.name === 'suspect')
    return { condition: `${isOfFile} AND target = ?`, binds: ['sources', 'target'] };
  // What is still to be announced is for one of them to announce.
  if (table.name === 'announcement')
    return { condition: `(url IS NULL OR ${isOfFile}) AND target = ?`, binds: ['sources', 'target'] };
  if (hasColumn(table, 'target')) return { condition: 'target = ?', binds: ['target'] };
  // Subjects are arrays of a kind and a source, or of a kind alone.
  if (table.name === 'told')
    return {
      condition: `NOT json_valid(subject) OR coalesce(subject ->> '$[1]', '') IN ('', ${list})`,
      binds: ['sources'],
    };
  return { condition: 'true', binds: [] };
}

function valuesOf(table: ShippedTable, part: CarriedPart): (string | number)[] {
  // No target has this number.
  const target = part.target ?? 0;
  return conditionOf(table, part).binds.flatMap((bind): (string | number)[] =>
    bind === 'sources' ? [...part.sources] : [target],
  );
}

function isOfSources({ name }: ShippedTable): boolean {
  return TABLES_OF_SOURCES.includes(name);
}

function hasColumn({ columns }: ShippedTable, column: string): boolean {
  return columns.some(({ name }) => name === column);
}

function marks(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}
