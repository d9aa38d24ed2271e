import { DatabaseSync } from '@photostructure/sqlite';
import { StateFileError, type Database } from './database.ts';
import { MIGRATIONS } from './schema.ts';

const TABLES = 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name';

/**
 * Throws `StateFileError` when a state file has not just the tables and indexes that its version was made with. SQLite
 * takes damage there for tables of someone else's, and says of our questions that they are wrong.
 */
export function assertSchema(database: Database, version: number): void {
  const there = new Set(
    database
      .prepare(TABLES)
      .all()
      .map((row) => JSON.stringify(row)),
  );
  const fresh = new DatabaseSync(':memory:');
  try {
    for (const step of MIGRATIONS.slice(0, version)) fresh.exec(step);
    const made = fresh.prepare(TABLES).all();
    if (made.length !== there.size || !made.every((row) => there.has(JSON.stringify(row))))
      throw new StateFileError('damaged', 'its tables are not those that botsync created');
  } finally {
    fresh.close();
  }
}
