import { mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openReader } from '../../src/store/open-reader.ts';
import type { StateReader } from '../../src/store/state-reader.ts';
import {
  addSynced,
  closeAtEnd,
  contentsOf,
  drain,
  killedCopy,
  NOW,
  openStore,
  TARGET,
  temporaryDirectory,
  writtenFile,
} from './fixture.ts';

function read(file: string, inUse: boolean): { reader: StateReader; paths: string[]; close: () => void } {
  const opened = openReader(file, inUse);
  if (opened.kind !== 'open') throw new Error(JSON.stringify(opened));
  closeAtEnd(opened);
  const { reader, close } = opened;
  return {
    reader,
    close,
    paths: drain(reader.records(reader.targetId(TARGET), 'docs')).map((record) => record.path),
  };
}

test('a log that cannot be copied is told of, and leaves no copy behind', () => {
  const file = writtenFile();
  const scratch = temporaryDirectory();
  vi.stubEnv('TMPDIR', scratch);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  // Whoever asks, a directory is no file to copy.
  mkdirSync(`${file}-wal`);
  expect(openReader(file, false)).toEqual({
    kind: 'unreadable',
    reason: expect.stringContaining('cannot be copied') as string,
  });
  expect(readdirSync(scratch)).toEqual([]);
});

describe('a reader writes nothing', () => {
  test('where nobody uses the file, and reads all of it', () => {
    const file = writtenFile();
    const before = contentsOf(dirname(file));
    const { paths, close } = read(file, false);
    expect(paths).toEqual(['a']);
    expect(contentsOf(dirname(file))).toEqual(before);
    close();
    expect(contentsOf(dirname(file))).toEqual(before);
  });

  test('where a killed process left a log, and reads what is in the log', async () => {
    const file = join(temporaryDirectory(), 'state.db');
    const store = openStore(file);
    const target = store.targetId(TARGET);
    addSynced(store, target, 'docs', 'a');
    await store.removals.beginRemoving({ target, key: 'none' as never }, NOW);
    const copy = killedCopy(file);
    const before = contentsOf(dirname(copy));
    expect(Object.keys(before)).toContain('state.db-wal');
    // A place of its own for what is temporary: others come and go in the one that all share.
    const scratch = temporaryDirectory();
    vi.stubEnv('TMPDIR', scratch);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const { paths, close } = read(copy, false);
    expect(paths).toEqual(['a']);
    expect(readdirSync(scratch)).toHaveLength(1);
    close();
    expect(contentsOf(dirname(copy))).toEqual(before);
    expect(readdirSync(scratch)).toEqual([]);
  });

  test('where there is no file', () => {
    const directory = temporaryDirectory();
    const { reader, paths } = read(join(directory, 'deep', 'state.db'), false);
    expect(paths).toEqual([]);
    expect(reader.targetId(TARGET)).toBe(-1);
    expect(reader.overview.lastPass()).toBeNull();
    expect(reader.overview.tallies(NOW)).toEqual([]);
    expect(reader.nextPassNumber()).toBe(1);
    expect(readdirSync(directory)).toEqual([]);
  });

  test.each([false, true])('in a database of it (in use: %j)', (inUse) => {
    const file = writtenFile();
    const { reader } = read(file, inUse);
    const { database } = reader as unknown as { database: DatabaseSyncInstance };
    expect(() => {
      database.exec('DELETE FROM file');
    }).toThrow(/readonly/u);
  });
});

describe('a reader reads', () => {
  test('beside a writer, what it has committed', async () => {
    const file = join(temporaryDirectory(), 'state.db');
    const store = openStore(file);
    const target = store.targetId(TARGET);
    await store.removals.beginRemoving({ target, key: 'none' as never }, NOW);
    const { reader, paths } = read(file, true);
    expect(paths).toEqual([]);
    addSynced(store, target, 'docs', 'a');
    await store.removals.beginRemoving({ target, key: 'none' as never }, NOW);
    expect(drain(reader.records(target, 'docs')).map((record) => record.path)).toEqual(['a']);
    // It keeps the writer from nothing.
    addSynced(store, target, 'docs', 'b');
    await store.removals.beginRemoving({ target, key: 'none' as never }, NOW);
    expect(store.countRecorded(target, 'docs').present).toBe(2);
  });

  test('an empty file, and one whose maker was killed before the first table, as empty', () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'empty.db'), '');
    const begun = new DatabaseSync(join(directory, 'begun.db'));
    begun.exec('PRAGMA journal_mode = WAL');
    begun.close();
    for (const name of ['empty.db', 'begun.db']) expect(read(join(directory, name), false).paths).toEqual([]);
    expect(readdirSync(directory).sort()).toEqual(['begun.db', 'empty.db']);
  });

  test.each(['a b', 'a%20b', 'a?b=c', 'a#b', 'é😀'])('a file in a directory named %j', (name) => {
    const directory = join(temporaryDirectory(), name);
    mkdirSync(directory);
    const file = writtenFile(directory);
    expect(read(file, false).paths).toEqual(['a']);
    expect(read(file, true).paths).toEqual(['a']);
  });
});

describe('a reader refuses', () => {
  const change = (sql: string): string => {
    const file = writtenFile();
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
    return file;
  };

  test('a newer file', () => {
    expect(openReader(change('PRAGMA user_version = 1000'), false)).toEqual({
      kind: 'newer',
      version: 1000,
    });
  });

  test('one of another program', () => {
    expect(openReader(change('PRAGMA application_id = 7'), false)).toEqual({ kind: 'foreign' });
  });

  test('a damaged one, which it leaves as it is', () => {
    const file = writtenFile();
    writeFileSync(file, 'no database at all\n'.repeat(500));
    const before = contentsOf(dirname(file));
    for (const inUse of [false, true]) {
      expect(openReader(file, inUse)).toMatchObject({
        kind: 'damaged',
        reason: expect.stringMatching(/not a database/u) as string,
      });
    }
    truncateSync(file, 10);
    expect(openReader(file, false)).toMatchObject({ kind: 'damaged' });
    expect(Object.keys(contentsOf(dirname(file)))).toEqual(Object.keys(before));
  });
});
