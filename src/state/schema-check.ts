import { DatabaseSync } from '@photostructure/sqlite';
import { StateFileError, type Database } from './database.ts';
import { MIGRATIONS } from './schema.ts';

const TABLES = 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name';

/**
 * Throws `StateFileError` when a state file of the present version lacks a table or an index as it was made. SQLite
 * takes damage there for tables of someone else's, and says of our questions that they are wrong.
 */
export function assertSchema(database: Database): void {
  const there = new Set(
    database
      .prepare(TABLES)
      .all()
      .map((row) => JSON.stringify(row)),
  );
  const fresh = new DatabaseSync(':memory:');
  try {
    for (const step of MIGRATIONS) fresh.exec(step);
    const isWhole = fresh
      .prepare(TABLES)
      .all()
      .every((row) => there.has(JSON.stringify(row)));
    if (!isWhole) throw new StateFileError('damaged', 'its tables are not what was made');
  } finally {
    fresh.close();
  }
}
