import { DatabaseSync } from '@photostructure/sqlite';
import { StateFileError, type Database } from './database.ts';
import { MIGRATIONS } from './schema.ts';

const TABLES = 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name';

/** The tables and indexes that a version is made with, by the version: a process opens its state file often. */
const madeWith = new Map<number, ReadonlySet<string>>();

/**
 * Throws `StateFileError` when a state file has not just the tables and indexes that its version was made with. SQLite
 * takes damage there for tables of someone else's, and says of our questions that they are wrong.
 */
export function assertSchema(database: Database, version: number): void {
  const made = tablesOf(version);
  const there = readTables(database);
  if (made.size !== there.length || !there.every((row) => made.has(row)))
    throw new StateFileError('damaged', 'its tables are not those that botsync created');
}

function tablesOf(version: number): ReadonlySet<string> {
  const known = madeWith.get(version);
  if (known !== undefined) return known;
  const fresh = new DatabaseSync(':memory:');
  try {
    for (const step of MIGRATIONS.slice(0, version)) fresh.exec(step);
    const made = new Set(readTables(fresh));
    madeWith.set(version, made);
    return made;
  } finally {
    fresh.close();
  }
}

function readTables(database: Database): string[] {
  return database
    .prepare(TABLES)
    .all()
    .map((row) => JSON.stringify(row));
}
