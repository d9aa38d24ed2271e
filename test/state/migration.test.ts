import { readFileSync } from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { openReader } from '../../src/state/open-reader.ts';
import { MIGRATIONS } from '../../src/state/schema.ts';
import {
  addSending,
  addSynced,
  attempt,
  begin,
  cleanCopy,
  closeAtEnd,
  connect,
  drain,
  FOREVER,
  NOW,
  openStore,
  row,
  SHA,
  TARGET,
  temporaryDirectory,
} from './fixture.ts';
import { makeOlder } from './older-file.ts';

/** A state file of a version, with files in every state, a source, a problem and a pass. */
function fileOfVersion(version: number): string {
  const { store, target, file } = begin();
  addSynced(store, target, 'docs', 'synced.md', { expiresAtMs: NOW + 1000 });
  addSending(store, target, 'docs', 'sending.md');
  const failing = addSending(store, target, 'docs', 'failed.md');
  store.recordFailure(failing, attempt(), { state: 'failed', reason: 'why', upserted: true }, NOW);
  void store.removals
    .beginRemoving(addSynced(store, target, 'docs', 'removing.md'), NOW)
    .catch(() => undefined);
  store.savePass(3, NOW, 0, '{}');
  store.close();
  const copy = cleanCopy(file, temporaryDirectory());
  makeOlder(copy, version);
  return copy;
}

const OLDER = Array.from({ length: MIGRATIONS.length - 1 }, (_, nth) => nth + 1);

test.each(OLDER)('version %d is brought to the present one with all that is on record', (version) => {
  const file = fileOfVersion(version);
  expect(userVersionOf(file)).toBe(version);
  const store = openStore(file);
  const target = store.targetId(TARGET);
  const records = drain(store.records(target, 'docs'));
  expect(records.map(({ path, state, verdict, differs }) => [path, state, verdict, differs])).toEqual([
    ['failed.md', 'failed', null, null],
    ['removing.md', 'removing', null, null],
    ['sending.md', 'sending', null, null],
    ['synced.md', 'synced', null, null],
  ]);
  expect(records.at(-1)).toMatchObject({ fingerprint: '5:1:1:1', trusted: true, expiresAtMs: NOW + 1000 });
  expect(store.find(row(target, 'synced.md'))?.sha256).toEqual(SHA);
  expect(store.nextPassNumber()).toBe(4);
  expect(store.history.buckets(0, NOW * 2)).toEqual([]);
  store.history.note({ sentFiles: 1 }, NOW);
  store.close();
  expect(openStore(file).history.buckets(0, NOW * 2)).toMatchObject([{ sentFiles: 1 }]);
  expect(userVersionOf(file)).toBe(MIGRATIONS.length);
});

/** The first version that asks the platform what became of the files. */
const ASKING = 4;

test.each(OLDER.filter((version) => version < ASKING))(
  'of what version %d sent nothing is asked, and nothing is known, until it is sent again',
  (version) => {
    const store = openStore(fileOfVersion(version));
    const target = store.targetId(TARGET);
    const id = row(target, 'synced.md');
    expect(store.remote.find(id)).toEqual({
      ...{ sizeBytes: 5, remoteId: null, verdict: null, sentAtMs: null, askAtMs: null, askedAtMs: null },
      ...{ losses: 0, isMarkDue: false, isMarked: false, changing: null, differs: null },
    });
    expect(store.remote.askTimes(target, 1)).toEqual([]);
    expect(store.remote.due(target, NOW + 1e9, 10)).toEqual([]);
    expect(store.remote.verification()).toBeNull();
    expect(store.remote.unserved(target, 'list')).toBeNull();
    expect(store.remote.toldSettings('settings')).toBeNull();
    store.recordSynced(id, attempt(), SHA, { ...FOREVER, remoteId: 'f1', askAtMs: NOW + 1000 }, NOW);
    expect(store.remote.due(target, NOW + 1000, 10)).toMatchObject([{ key: 'synced.md', remoteId: 'f1' }]);
  },
);

test.each(OLDER)('version %d is read as the present one without being written', (version) => {
  const file = fileOfVersion(version);
  const before = readFileSync(file);
  const opened = openReader(file, false);
  if (opened.kind !== 'open') throw new Error(opened.kind);
  closeAtEnd(opened);
  const target = opened.reader.targetId(TARGET);
  expect(opened.reader.remote.find(row(target, 'synced.md'))).toMatchObject({ remoteId: null, losses: 0 });
  expect(opened.reader.remote.askTimes(target, 1)).toEqual([]);
  opened.close();
  expect(readFileSync(file)).toEqual(before);
});

test('the index of what is asked next leads to one target, in the order of time', () => {
  const { store, file } = begin();
  store.close();
  const columns = connect(file).prepare('SELECT name FROM pragma_index_info(?)').all('file_ask');
  expect(columns).toEqual([{ name: 'target' }, { name: 'ask_at' }]);
});

function userVersionOf(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return (database.prepare('PRAGMA user_version').get() as unknown as { user_version: number })
      .user_version;
  } finally {
    database.close();
  }
}
