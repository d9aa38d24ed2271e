import { closeSync, existsSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { guarded, type Database, type Statement, troubleOf } from './database.ts';
import {
  bodyOf,
  entryTables,
  fileTable,
  insertOf,
  insertOneOf,
  isNamed,
  keyOf,
  valuesOf,
  type JsonRow,
  type ShippedTable,
} from './ledger-rows.ts';
import type { Durability } from './write-group.ts';
import { COMPANIONS, createTables } from './open.ts';
import { StateStore } from './state-store.ts';

/** The most rows in one shipment. */
const MOST_ROWS = 2000;

/** Low, because a host that takes the unit over first sends all files again that were being sent. */
const MOST_AHEAD = 16;

/** Page cache while rows are loaded, KiB. */
const LOADING_KIB = 65_536;

/** Finds entries that are no entries: loading would skip them silently. */
const STRANGE_ENTRY = `SELECT 1 FROM json_each(?) AS each
  WHERE iif(each.type = 'object', json_type(each.value, '$.tbl') IS NOT 'text' OR json_type(each.value, '$.body') IS NOT 'object', true)`;

/** Changed rows on their way to the ledger, as JSON. */
export interface Shipment {
  /** An array of files as objects. */
  readonly files: string;
  /** An array of `[target, key]`: files whose records were dropped. */
  readonly droppedFiles: string;
  /** An array of `{ tbl, key, ofHost, body }`: rows of other tables. A deleted row has no body. */
  readonly entries: string;
}

/** Resolves once the ledger has taken a shipment; rejects with `StateFileError` when it never will. */
export type Ship = (shipment: Shipment) => Promise<void>;

/** Rows of the ledger, as JSON arrays of the same form as in `Shipment`. */
export interface LedgerPage {
  readonly files: string;
  readonly entries: string;
}

/** A target with its number in the ledger. */
export interface NumberedTarget {
  readonly id: number;
  readonly baseUrl: string;
  readonly botId: string;
  readonly identity: string;
}

/** A source without records may have lost them to another unit that had it for a while: its files are adopted again. */
const ADOPT_ANEW = `DELETE FROM adoption
  WHERE NOT EXISTS (SELECT 1 FROM file WHERE file.target = adoption.target AND file.source = adoption.source)`;

/**
 * A state file with the records of one unit while this host holds it. It may be lost at any time: every change is shipped to the
 * ledger, and only the ledger counts.
 */
export class WorkingCopy {
  readonly #database: Database;
  readonly #file: string;
  readonly #fileTable: ShippedTable;
  readonly #entryTables: readonly ShippedTable[];

  /** Creates an empty working copy in place of an earlier one. Throws `StateFileError` and errors of the file system. */
  constructor(file: string) {
    this.#file = file;
    // A file named ":memory:" in the working directory would belong to somebody else.
    if (file !== ':memory:') discardWorkingCopy(file);
    if (file !== ':memory:') {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
    }
    this.#database = guarded(
      () => new DatabaseSync(file, { timeout: 5000, enableForeignKeyConstraints: true }),
    );
    guarded(() => {
      // Rows come in no order, so most of the file is kept in memory while they are loaded.
      this.#database.exec(
        `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -${LOADING_KIB};`,
      );
      createTables(this.#database);
    });
    this.#fileTable = fileTable(this.#database);
    this.#entryTables = entryTables(this.#database);
  }

  get database(): Database {
    return this.#database;
  }

  /** Adds the targets of rows to be loaded. Throws `StateFileError`. */
  loadTargets(targets: readonly NumberedTarget[]): void {
    const insert = 'INSERT OR IGNORE INTO target (id, base_url, bot_id, identity) VALUES (?, ?, ?, ?)';
    guarded(() => {
      const statement = this.#database.prepare(insert);
      for (const { id, baseUrl, botId, identity } of targets) statement.run(id, baseUrl, botId, identity);
    });
  }

  /** Adds rows. Throws `StateFileError`, and `UnreadableRowError` for a row that botsync did not write. */
  load({ files, entries }: LedgerPage): void {
    guarded(() => {
      this.#database.exec('BEGIN');
      this.#loadFiles(JSON.parse(files) as JsonRow[]);
      if (entries !== '[]') this.#loadEntries(entries);
      this.#database.exec('COMMIT');
    });
  }

  #loadFiles(rows: readonly JsonRow[]): void {
    // Twice as fast as json_each, and there are many files.
    const insert = this.#database.prepare(insertOneOf(this.#fileTable));
    let row: JsonRow | null = null;
    try {
      for (row of rows) insert.run(...valuesOf(this.#fileTable, row));
    } catch (error) {
      const key = row?.['key'];
      throw whyUnreadable(typeof key === 'string' ? `of the file ${key}` : 'of a file', error);
    }
  }

  #loadEntries(entries: string): void {
    const strange: unknown = this.#database.prepare(STRANGE_ENTRY).get(entries);
    if (strange !== undefined) throw new UnreadableRowError('an entry', 'it names no table, or has no row');
    for (const table of this.#entryTables) {
      const insert = insertOf(table, "each.value -> 'body'", `each.value ->> 'tbl' = '${table.name}'`);
      try {
        this.#database.prepare(insert.replace('INSERT', 'INSERT OR REPLACE')).run(entries);
      } catch (error) {
        throw whyUnreadable(`an entry of "${table.name}"`, error);
      }
    }
  }

  /** Opens the store: from now on every change is shipped. */
  begin(ship: Ship): StateStore {
    return guarded(() => {
      this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA cache_size = -2000;');
      this.#captureChanges();
      this.#database.exec(ADOPT_ANEW);
      return new StateStore(
        this.#database,
        this.#file,
        new Shipping(this.#database, this.#entryTables, ship),
      );
    });
  }

  /** Closes the connection. After `begin` the store is closed instead. */
  close(): void {
    this.#database.close();
  }

  /** Notes changed rows in temporary tables, so that the schema stays that of a state file. */
  #captureChanges(): void {
    this.#database.exec(`
      CREATE TEMP TABLE shipped_file (target INTEGER, key TEXT, PRIMARY KEY (target, key)) WITHOUT ROWID;
      CREATE TEMP TABLE shipped_entry (tbl TEXT, key TEXT, PRIMARY KEY (tbl, key)) WITHOUT ROWID;`);
    this.#capture('file', 'shipped_file (target, key)', (row) => [`${row}.target`, `${row}.key`]);
    for (const table of this.#entryTables)
      this.#capture(table.name, 'shipped_entry (tbl, key)', (row) => [`'${table.name}'`, keyOf(table, row)]);
  }

  /** Notes each row once, by a condition: the conflict clause of the statement that fires a trigger overrides the trigger's own. */
  #capture(table: string, into: string, values: (row: 'NEW' | 'OLD') => [string, string]): void {
    const note = (row: 'NEW' | 'OLD'): string => {
      const [name, columns = ''] = into.split(' (');
      const both = values(row).join(', ');
      return `INSERT INTO ${into} SELECT ${both} WHERE NOT EXISTS
        (SELECT 1 FROM temp.${name} WHERE (${columns} = (${both}));`;
    };
    this.#database.exec(`
      CREATE TEMP TRIGGER ship_${table}_insert AFTER INSERT ON main.${table} BEGIN ${note('NEW')} END;
      CREATE TEMP TRIGGER ship_${table}_update AFTER UPDATE ON main.${table} BEGIN ${note('OLD')} ${note('NEW')} END;
      CREATE TEMP TRIGGER ship_${table}_delete AFTER DELETE ON main.${table} BEGIN ${note('OLD')} END;`);
  }
}

/** Deletes a working copy with its companion files. */
export function discardWorkingCopy(file: string): void {
  for (const companion of COMPANIONS) rmSync(file + companion, { force: true });
}

/** Makes the changes of a working copy durable by shipping them to the ledger. */
class Shipping implements Durability {
  readonly intervalMs = 0;
  /** Nothing counts until the ledger has it. */
  readonly isEager = true;
  readonly mostAhead = MOST_AHEAD;
  readonly #database: Database;
  readonly #file: ShippedTable;
  readonly #tables: ReadonlyMap<string, ShippedTable>;
  readonly #ship: Ship;
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database, tables: readonly ShippedTable[], ship: Ship) {
    this.#database = database;
    this.#file = fileTable(database);
    this.#tables = new Map(tables.map((table) => [table.name, table]));
    this.#ship = ship;
  }

  flush = async (): Promise<void> => {
    for (let next = this.#take(); next !== null; next = this.#take()) await this.#ship(next);
  };

  close = (): void => undefined;

  /** Takes the next changed rows, which the caller has to ship; `null`: there are none. */
  #take(): Shipment | null {
    return guarded(() => {
      const files = this.#takeFiles();
      const entries = this.#takeEntries();
      return files === null && entries === '[]'
        ? null
        : { ...(files ?? { files: '[]', droppedFiles: '[]' }), entries };
    });
  }

  #takeFiles(): Pick<Shipment, 'files' | 'droppedFiles'> | null {
    const changed = `SELECT target, key FROM temp.shipped_file ORDER BY target, key LIMIT ${MOST_ROWS}`;
    const row = this.#prepare(
      `SELECT json_group_array(json(body)) FILTER (WHERE body IS NOT NULL) AS files,
         json_group_array(json_array(target, key)) FILTER (WHERE body IS NULL) AS dropped, count(*) AS count
       FROM (SELECT changed.target, changed.key, iif(file.key IS NULL, NULL, ${bodyOf(this.#file, 'file')}) AS body
         FROM (${changed}) AS changed LEFT JOIN main.file AS file ON file.target = changed.target AND file.key = changed.key)`,
    ).get() as { files: string; dropped: string; count: number };
    if (row.count === 0) return null;
    this.#prepare(`DELETE FROM temp.shipped_file WHERE (target, key) IN (${changed})`).run();
    return { files: row.files, droppedFiles: row.dropped };
  }

  #takeEntries(): string {
    const changed = `SELECT tbl, key FROM temp.shipped_entry ORDER BY tbl, key LIMIT ${MOST_ROWS}`;
    const names = this.#prepare(`SELECT DISTINCT tbl FROM (${changed})`).all() as { tbl: string }[];
    if (names.length === 0) return '[]';
    const parts = names.flatMap(({ tbl }) => {
      const table = this.#tables.get(tbl);
      if (table === undefined) return [];
      const row = this.#prepare(
        `SELECT json_group_array(json_object('tbl', '${tbl}', 'key', changed.key, 'ofHost', ${Number(table.isOfHost)},
           'body', iif(row.${table.keyColumns[0]?.name ?? ''} IS NULL, NULL, ${bodyOf(table, 'row')}))) AS entries
         FROM (${changed}) AS changed LEFT JOIN main.${tbl} AS row ON ${isNamed(table, 'row', 'changed.key')}
         WHERE changed.tbl = '${tbl}'`,
      ).get() as { entries: string };
      return row.entries.slice(1, -1);
    });
    this.#prepare(`DELETE FROM temp.shipped_entry WHERE (tbl, key) IN (${changed})`).run();
    return `[${parts.join(',')}]`;
  }

  #prepare(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }
}

/** A row of the ledger is not as botsync wrote it. */
export class UnreadableRowError extends Error {
  /** @param row - describes the row in messages. */
  constructor(row: string, why: string, options?: ErrorOptions) {
    super(`${row} (${why})`, options);
    this.name = 'UnreadableRowError';
  }
}

/** Returns the error to throw for a row that could not be loaded: that of the file system, or `UnreadableRowError`. */
function whyUnreadable(row: string, error: unknown): unknown {
  const trouble = troubleOf(error);
  if (trouble === 'unwritable' || trouble === 'busy') return error;
  return new UnreadableRowError(row, (error as Error).message, { cause: error });
}

export function describeUnreadable(unit: string, { message }: UnreadableRowError): string {
  return `a record of ${unit} in the ledger cannot be read: ${message}; delete this row, or restore a backup of the database`;
}
