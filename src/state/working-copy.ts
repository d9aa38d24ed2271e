import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { guarded, type Database, type Statement } from './database.ts';
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
import type { Durability } from './log-file.ts';
import { COMPANIONS, migrate } from './open.ts';
import { StateStore } from './state-store.ts';
import { UnreadableRowError, whyUnreadable } from './unreadable-row.ts';

/** So many rows at most travel at a time. */
const MOST_ROWS = 2000;

/** Whoever takes over looks first at all files that were in hand, and sends them again. */
const MOST_AHEAD = 16;

/** Memory for pages of the file while it is loaded, KiB. */
const LOADING_KIB = 65_536;

/** SQL that gives a row if any of these entries is none: it would be left out without a word. */
const STRANGE_ENTRY = `SELECT 1 FROM json_each(?) AS each
  WHERE iif(each.type = 'object', json_type(each.value, '$.tbl') IS NOT 'text' OR json_type(each.value, '$.body') IS NOT 'object', true)`;

/** Changed rows on their way to the ledger, as JSON. */
export interface Shipment {
  /** An array of files as objects. */
  readonly files: string;
  /** An array of `[target, key]`: files that are on record no more. */
  readonly droppedFiles: string;
  /** An array of `{ tbl, key, ofHost, body }`: rows of other tables; without a body those that are no more. */
  readonly entries: string;
}

/** Resolves once the ledger has a shipment; rejects with `StateFileError` when it never will. */
export type Ship = (shipment: Shipment) => Promise<void>;

/** Rows of the ledger as it gives them out: JSON arrays of what `Shipment` has of files and other rows. */
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

/**
 * A state file that keeps a part of the ledger while one host works on it. It may be lost at any time: what counts is in the
 * ledger, where every change goes.
 */
export class WorkingCopy {
  readonly #database: Database;
  readonly #file: string;
  readonly #fileTable: ShippedTable;
  readonly #entryTables: readonly ShippedTable[];

  /**
   * Begins an empty one in the place of any before it, or goes on with one that this process was at work on before. Throws
   * `StateFileError`, or what the file system says.
   */
  constructor(file: string, before: 'discard' | 'keep' = 'discard') {
    this.#file = file;
    // One in memory has no file: what is called so in the working directory is somebody's.
    if (before === 'discard' && file !== ':memory:') discardWorkingCopy(file);
    if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    this.#database = guarded(
      () => new DatabaseSync(file, { timeout: 5000, enableForeignKeyConstraints: true }),
    );
    guarded(() => {
      if (before === 'keep') {
        this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;');
        return;
      }
      // Rows come in no order: as long as they are loaded most of the file is kept in memory.
      this.#database.exec(
        `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -${LOADING_KIB};`,
      );
      migrate(this.#database, 0);
    });
    this.#fileTable = fileTable(this.#database);
    this.#entryTables = entryTables(this.#database);
  }

  /** The connection, for reading what was loaded. */
  get database(): Database {
    return this.#database;
  }

  /** Takes over the targets that rows name, and it has not. Throws `StateFileError`. */
  loadTargets(targets: readonly NumberedTarget[]): void {
    const insert = 'INSERT OR IGNORE INTO target (id, base_url, bot_id, identity) VALUES (?, ?, ?, ?)';
    guarded(() => {
      const statement = this.#database.prepare(insert);
      for (const { id, baseUrl, botId, identity } of targets) statement.run(id, baseUrl, botId, identity);
    });
  }

  /** Takes over rows. Throws `StateFileError`, and `UnreadableRowError` where one is no row of ours. */
  load({ files, entries }: LedgerPage): void {
    guarded(() => {
      this.#database.exec('BEGIN');
      this.#loadFiles(JSON.parse(files) as JsonRow[]);
      if (entries !== '[]') this.#loadEntries(entries);
      this.#database.exec('COMMIT');
    });
  }

  #loadFiles(rows: readonly JsonRow[]): void {
    // Twice as fast as what SQLite makes of the text by itself, and there are many of them.
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

  /** From now on every change goes to the ledger. */
  begin(ship: Ship): StateStore {
    return guarded(() => {
      this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA cache_size = -2000;');
      this.#captureChanges();
      return new StateStore(
        this.#database,
        this.#file,
        new Shipping(this.#database, this.#entryTables, ship),
      );
    });
  }

  /** Has every row shipped again: the ledger has lost some. */
  shipAll(): void {
    guarded(() => {
      this.#database.exec('INSERT OR IGNORE INTO temp.shipped_file SELECT target, key FROM main.file');
      for (const table of this.#entryTables)
        this.#database.exec(
          `INSERT OR IGNORE INTO temp.shipped_entry SELECT '${table.name}', ${keyOf(table, table.name)} FROM main.${table.name}`,
        );
    });
  }

  /** Whether every change was handed over to be shipped. */
  get isShipped(): boolean {
    return guarded(() => {
      const waiting = `SELECT 1 FROM temp.shipped_file UNION ALL SELECT 1 FROM temp.shipped_entry LIMIT 1`;
      return this.#database.prepare(waiting).get() === undefined;
    });
  }

  /** Closes it, unless a store was begun, which is closed itself. */
  close(): void {
    this.#database.close();
  }

  /** What changes is noted in tables that only this connection sees, so that the schema stays that of a state file. */
  #captureChanges(): void {
    this.#database.exec(`
      CREATE TEMP TABLE shipped_file (target INTEGER, key TEXT, PRIMARY KEY (target, key)) WITHOUT ROWID;
      CREATE TEMP TABLE shipped_entry (tbl TEXT, key TEXT, PRIMARY KEY (tbl, key)) WITHOUT ROWID;`);
    this.#capture('file', 'shipped_file (target, key)', (row) => [`${row}.target`, `${row}.key`]);
    for (const table of this.#entryTables)
      this.#capture(table.name, 'shipped_entry (tbl, key)', (row) => [`'${table.name}'`, keyOf(table, row)]);
  }

  /** Notes each row once. By a condition: a conflict clause of the statement that fires it would count instead of its own. */
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

/** Deletes a working copy with what SQLite keeps beside it. */
export function discardWorkingCopy(file: string): void {
  for (const companion of COMPANIONS) rmSync(file + companion, { force: true });
}

/** Makes changes of a working copy durable: by having the ledger take them. */
class Shipping implements Durability {
  readonly intervalMs = 0;
  /** Nothing of a working copy counts on its own. */
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

  /** What changed, up to so much, which is to be shipped then; `null`: nothing. */
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
