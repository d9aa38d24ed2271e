import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import type { FileRecord } from '../../src/domain/record.ts';
import { FileReader } from '../../src/store/file-reader.ts';
import { addSynced, begin, closeAtEnd, connect, drain, NOW, openStore, path, row, SHA } from './fixture.ts';

test('records come one by one as they are found by their keys, over many pages', () => {
  const { store, target } = begin();
  for (let at = 0; at < 2500; at++) addSynced(store, target, 'docs', `"${String(at)}"\\ä`);
  const records = drain(store.recordsByKey(target));
  expect(records).toHaveLength(2500);
  expect(records[0]?.sha256).toEqual(SHA);
  expect(records).toEqual(records.map((record) => store.find(record)));
});

test('a row that makes no sense is damage, not a defect', () => {
  const { store, target, file } = begin();
  addSynced(store, target, 'docs', 'a');
  store.close();
  connect(file).exec("PRAGMA ignore_check_constraints = ON; UPDATE file SET state = 'syncec'");
  const damaged = expect.objectContaining({ name: 'StateFileError', kind: 'damaged' }) as Error;
  expect(() => openStore(file).records(target, 'docs')).toThrow(damaged);
});

test('a record has all that was noted of its file', () => {
  const { store, target } = begin();
  const id = row(target, 'docs/a');
  store.remote.recordAdopted(
    id,
    {
      ...{
        source: 'docs',
        path: path('a'),
        fingerprint: '5:1:2:3' as FileRecord['fingerprint'],
        trusted: true,
      },
      ...{ settingsDigest: 'settings', sizeBytes: 5, sha256: SHA, remoteId: 'file_1', verdict: 'stored' },
      ...{ askAtMs: NOW + 1, expiresAtMs: NOW + 3, renewAtMs: NOW + 2 },
    },
    NOW,
  );
  store.setAbsence(id, 'kept', NOW + 4);
  expect(store.find(id)).toEqual({
    ...{
      target,
      source: 'docs',
      path: 'a',
      key: 'docs/a',
      state: 'synced',
      fingerprint: '5:1:2:3',
      trusted: true,
    },
    ...{ settingsDigest: 'settings', expiresAtMs: NOW + 3, renewAtMs: NOW + 2, absence: 'kept' },
    ...{ absentSinceMs: NOW + 4, sizeBytes: 5, sha256: SHA, uploaded: true, failure: null, changedAtMs: NOW },
    ...{ remoteId: 'file_1', verdict: 'stored', sentAtMs: NOW, askAtMs: NOW + 1, askedAtMs: null, losses: 0 },
    ...{ isMarkDue: false, isMarked: true, changing: null, differs: null },
  });
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
function readOne(sha256: string, path = `'a'`): FileRecord | null {
  const database = new DatabaseSync(':memory:');
  closeAtEnd(database);
  database.exec(
    `CREATE TABLE file (target, source, path, key, state, fingerprint, trusted, settings, expires_at, renew_at, absence,
       absent_since, size_bytes, sha256, uploaded, failure, changed_at, remote_id, verdict, sent_at, ask_at, asked_at,
       losses, mark_due, marked, changing, differs);
     CREATE INDEX file_key ON file (target, key);
     INSERT INTO file (target, key, source, path, state, fingerprint, size_bytes, sha256, settings, changed_at, losses)
       VALUES (1, 'a', 'docs', ${path}, 'synced', '1:1:1:1', 1, ${sha256}, 'settings', 1, 0)`,
  );
  return new FileReader(database).recordsByKey(1).current;
}
