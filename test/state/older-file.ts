import { renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';
import { APPLICATION_ID, MIGRATIONS } from '../../src/state/schema.ts';

/** Takes a closed state file back to an older version: the tables that this had, with what is in them now. */
export function makeOlder(file: string, version: number): void {
  const older = `${file}.older`;
  const database = new DatabaseSync(older);
  for (const step of MIGRATIONS.slice(0, version)) database.exec(step);
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  database.prepare('ATTACH ? AS now').run(file);
  database.exec('PRAGMA foreign_keys = OFF');
  for (const { name } of tables as unknown as { name: string }[]) {
    const columns = database.prepare('SELECT name FROM pragma_table_info(?)').all(name);
    const list = (columns as unknown as { name: string }[]).map((column) => column.name).join();
    database.exec(`INSERT INTO main.${name} (${list}) SELECT ${list} FROM now.${name}`);
  }
  database.exec('DETACH now');
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}`);
  database.close();
  for (const companion of ['-wal', '-shm']) rmSync(file + companion, { force: true });
  renameSync(older, file);
}
