import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { guarded, type Query } from '../../src/state/database.ts';
import { SentFileReader, type SentFile } from '../../src/state/sent-files.ts';
import { addSynced, begin, closeAtEnd, SHA } from './fixture.ts';

test('files come one by one as they are found by their keys, over many pages', () => {
  const { store, target } = begin();
  for (let at = 0; at < 2500; at++) addSynced(store, target, 'docs', `"${String(at)}"\\ä`);
  const files: SentFile[] = [];
  const cursor = store.sent.byKey(target);
  for (let file = cursor.current; file !== null; file = cursor.current) {
    files.push(file);
    cursor.advance();
  }
  expect(files).toHaveLength(2500);
  expect(files[0]?.sha256).toEqual(SHA);
  expect(files).toEqual(files.map(({ key }) => store.sent.find(target, key)));
});

test('a file of which it is unknown what the platform has', () => {
  expect(readOne('NULL')).toMatchObject({ key: 'a', sha256: null });
});

// The first two are JSON in SQLite's own form, the second of a number that JSON does not know; the others are not.
test.each(['00', '152d', '1bff', 'ff', 'c3'])('a blob %s instead of a text is damage', (hex) => {
  expect(() => readOne(`x'07'`, `x'${hex}'`)).toThrow(
    expect.objectContaining({ name: 'StateFileError', kind: 'damaged' }) as Error,
  );
});

/** Reads a row whose digest and path are given as SQL: only a damaged file has values of other kinds. */
function readOne(sha256: string, path = `'a'`): SentFile | null {
  const database = new DatabaseSync(':memory:');
  closeAtEnd(database);
  database.exec(
    `CREATE TABLE file (target, key, source, path, state, absence, size_bytes, sha256, settings, expires_at, failure,
       changed_at, sent_at, remote_id, verdict, marked, changing, differs, uploaded);
     CREATE INDEX file_key ON file (target, key);
     INSERT INTO file (target, key, source, path, state, size_bytes, sha256, settings, changed_at)
       VALUES (1, 'a', 'docs', ${path}, 'synced', 1, ${sha256}, 'settings', 1)`,
  );
  const query: Query = (sql, ...values) => {
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    return guarded(() => statement.all(...values) as (readonly unknown[])[]);
  };
  return new SentFileReader(query).byKey(1).current;
}
