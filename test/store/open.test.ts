import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, test } from 'vitest';
import { openReader } from '../../src/store/open-reader.ts';
import { STATE_VERSION } from '../../src/store/schema.ts';
import { openState, setAside, type OpenedState } from '../../src/store/open.ts';
import { guarded, troubleOf } from '../../src/store/database.ts';
import type { StateStore } from '../../src/store/state-store.ts';
import {
  addSynced,
  cleanCopy,
  closeAtEnd,
  connect,
  drain,
  killedCopy,
  NOW,
  openStore,
  row,
  TARGET,
  temporaryDirectory,
  writtenFile,
} from './fixture.ts';

const DAMAGED = 'state.db.damaged-2026-03-01T120010.500Z';

function open(file: string, checkThoroughly = false): OpenedState {
  const opened = openState(file, { checkThoroughly, nowMs: NOW });
  if (opened.kind === 'open') closeAtEnd(opened.store);
  return opened;
}

function pathsIn(store: StateStore): string[] {
  return drain(store.records(store.targetId(TARGET), 'docs')).map((record) => record.path);
}

describe('a new state file', () => {
  test('is made with its directories, for the owner only', () => {
    const directory = join(temporaryDirectory(), 'new', 'deep');
    const file = join(directory, 'state.db');
    const store = openStore(file);
    addSynced(store, store.targetId(TARGET), 'docs', 'a');
    const mode = (path: string): number => statSync(path).mode & 0o777;
    expect([dirname(directory), directory].map(mode)).toEqual([0o700, 0o700]);
    const files = readdirSync(directory).sort();
    expect(files).toEqual(['state.db', 'state.db-shm', 'state.db-wal']);
    expect(files.map((name) => mode(join(directory, name)))).toEqual([0o600, 0o600, 0o600]);
  });

  test('says whose it is and of which version', () => {
    const file = writtenFile();
    const database = connect(file);
    expect(database.prepare('PRAGMA application_id').get()).toEqual({ application_id: 0x6273796e });
    expect(database.prepare('PRAGMA user_version').get()).toEqual({
      user_version: STATE_VERSION,
    });
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
  });

  test('an empty file, or one whose maker was killed before the first table, is new', () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'empty.db'), '');
    const begun = new DatabaseSync(join(directory, 'begun.db'));
    begun.exec('PRAGMA journal_mode = WAL');
    begun.close();
    expect(statSync(join(directory, 'begun.db')).size).toBeGreaterThan(0);
    for (const name of ['empty.db', 'begun.db']) {
      expect(open(join(directory, name))).toMatchObject({ kind: 'open', setAside: null });
    }
  });
});

describe('a state file of before', () => {
  test('is found again, nothing is set aside', () => {
    const file = writtenFile();
    for (const checkThoroughly of [false, true]) {
      const opened = open(file, checkThoroughly);
      expect(opened).toMatchObject({ kind: 'open', setAside: null });
      if (opened.kind !== 'open') return;
      expect(pathsIn(opened.store)).toEqual(['a']);
      opened.store.close();
    }
    expect(readdirSync(dirname(file)).filter((name) => name.includes('damaged'))).toEqual([]);
  });

  /** A database with other marks in its header, with a log or without. */
  const marked = (sql: string, withLog: boolean): string => {
    const file = writtenFile();
    const database = connect(file);
    database.exec(
      `${sql}; PRAGMA wal_autocheckpoint = 0; CREATE TABLE later (x); INSERT INTO later VALUES (1)`,
    );
    if (!withLog) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return withLog ? killedCopy(file) : cleanCopy(file);
  };
  const bytesOf = (file: string): unknown[] =>
    ['', '-wal'].map((end) => (existsSync(file + end) ? readFileSync(file + end).toString('base64') : ''));

  test.each([
    ['newer', 'PRAGMA user_version = 99', { kind: 'newer', version: 99 }],
    ['of another program', 'PRAGMA application_id = 7', { kind: 'foreign' }],
  ])('that is %s is not touched', (_what, sql, expected) => {
    for (const withLog of [false, true]) {
      const file = marked(sql, withLog);
      const before = bytesOf(file);
      expect(open(file, true)).toEqual(expected);
      expect(bytesOf(file).map((bytes, i) => bytes === before[i])).toEqual([true, true]);
    }
  });

  test('of another program with one table is one', () => {
    const file = join(temporaryDirectory(), 'state.db');
    connect(file).exec('CREATE TABLE theirs (x)');
    expect(open(file)).toEqual({ kind: 'foreign' });
  });

  test('that cannot be opened says why', () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'file'), '');
    expect(open(join(directory, 'file', 'state.db'))).toMatchObject({
      kind: 'unusable',
      reason: expect.stringMatching(/ENOTDIR|EEXIST/u) as string,
    });
    mkdirSync(join(directory, 'state.db'));
    expect(open(join(directory, 'state.db'))).toMatchObject({ kind: 'unusable' });
    expect(existsSync(join(directory, 'state.db'))).toBe(true);
  });

  test.skipIf(process.getuid?.() === 0)('that may not be written says so with the first write', () => {
    const file = writtenFile();
    chmodSync(file, 0o400);
    const store = openStore(file);
    expect(() => {
      store.savePass(1, NOW, 0, '{}');
    }).toThrow(expect.objectContaining({ name: 'StateFileError', kind: 'unwritable' }) as Error);
  });
});

describe('a damaged state file', () => {
  const large = (): string => {
    const file = join(temporaryDirectory(), 'state.db');
    const store = openStore(file);
    const target = store.targetId(TARGET);
    for (let i = 0; i < 500; i++) addSynced(store, target, 'docs', `${i}`.padStart(200, 'x'));
    store.close();
    expect(statSync(file).size).toBeGreaterThan(100_000);
    return cleanCopy(file);
  };
  const damages: readonly (readonly [
    what: string,
    checkThoroughly: boolean,
    damage: (file: string) => void,
  ])[] = [
    [
      'garbage',
      false,
      (file) => {
        writeFileSync(file, 'no database at all, whatever its name may say\n'.repeat(100));
      },
    ],
    [
      'a few bytes',
      false,
      (file) => {
        writeFileSync(file, 'xyz');
      },
    ],
    [
      'its first page zeroed',
      false,
      (file) => {
        zero(file, 0, 4096);
      },
    ],
    [
      'zeroed pages',
      true,
      (file) => {
        zero(file, 4096 * 4, 4096 * 12);
      },
    ],
    [
      'truncated',
      true,
      (file) => {
        truncateSync(file, 4096 * 10);
      },
    ],
    [
      'truncated within a page',
      true,
      (file) => {
        truncateSync(file, 4096 * 10 + 100);
      },
    ],
    [
      'without an index that questions name',
      false,
      (file) => {
        const database = new DatabaseSync(file);
        database.exec('DROP INDEX file_failure');
        database.close();
      },
    ],
  ];
  const zero = (file: string, from: number, to: number): void => {
    writeFileSync(file, readFileSync(file).fill(0, from, to));
  };

  test.each(damages)(
    '%s: is kept under another name, and a new one works',
    (_what, checkThoroughly, damage) => {
      const file = large();
      damage(file);
      const bytes = readFileSync(file);
      const opened = open(file, checkThoroughly);
      expect(opened).toMatchObject({
        kind: 'open',
        setAside: { name: join(dirname(file), DAMAGED), why: 'damaged' },
      });
      if (opened.kind !== 'open') return;
      expect(readFileSync(join(dirname(file), DAMAGED)).equals(bytes)).toBe(true);
      expect(pathsIn(opened.store)).toEqual([]);
      addSynced(opened.store, opened.store.targetId(TARGET), 'docs', 'b');
      opened.store.close();
      expect(pathsIn(openStore(file))).toEqual(['b']);
    },
  );

  test('takes its companions along, so that they are not taken for those of the new one', () => {
    const file = writtenFile();
    for (const companion of ['', '-wal', '-shm', '-journal'])
      writeFileSync(file + companion, `old${companion}`);
    const kept = join(dirname(file), DAMAGED);
    expect(setAside(file, 'damaged', NOW)).toEqual({ kind: 'kept', name: kept });
    expect(readdirSync(dirname(file)).sort()).toEqual(
      ['', '-journal', '-shm', '-wal'].map((end) => DAMAGED + end),
    );
    expect(readFileSync(`${kept}-wal`, 'utf8')).toBe('old-wal');
  });

  test('that shows its damage only when it is read says so as damage', () => {
    const file = large();
    zero(file, 4096 * 32, 4096 * 100);
    const store = openStore(file);
    const target = store.targetId(TARGET);
    const damaged = expect.objectContaining({ name: 'StateFileError', kind: 'damaged' }) as Error;
    expect(() => drain(store.records(target, 'docs'))).toThrow(damaged);
    expect(() => store.find(row(target, '250'.padStart(200, 'x')))).toThrow(damaged);
    expect(() => store.overview.tallies(NOW)).toThrow(damaged);
    expect(() => addSynced(store, target, 'docs', '250'.padStart(200, 'x'))).toThrow(damaged);
  });

  const coded = (errcode: number): Error => Object.assign(new Error('x'), { errcode });
  test.each([
    [
      'damaged',
      [coded(11), coded(26), coded(267), 'database disk image is malformed', 'file is not a database'],
    ],
    ['unwritable', [coded(8), coded(10), coded(13), coded(14), coded(778), 'disk I/O error']],
    ['busy', [coded(5), coded(261), 'database is locked']],
    [null, [coded(1), coded(19), 'no such table: x', '']],
  ])('%j are errors such as %j', (trouble, errors) => {
    for (const error of errors.map((one) => (typeof one === 'string' ? new Error(one) : one))) {
      expect(troubleOf(error)).toBe(trouble);
    }
  });
});

test('a file that is busy is so by another program, which is told of as what cannot be written', () => {
  const file = writtenFile();
  const [one, other] = [connect(file), connect(file)];
  one.exec('BEGIN IMMEDIATE');
  expect(() => {
    guarded(() => {
      other.exec('BEGIN IMMEDIATE');
    });
  }).toThrow(
    expect.objectContaining({
      kind: 'unwritable',
      message: expect.stringMatching(/^another program holds a lock on it/u) as string,
    }) as Error,
  );
});

describe('the write-ahead log', () => {
  test('of a killed process is taken in', async () => {
    const file = join(temporaryDirectory(), 'state.db');
    const store = openStore(file);
    const target = store.targetId(TARGET);
    addSynced(store, target, 'docs', 'a');
    await store.removals.beginRemoving(row(target, 'none'), NOW);
    const killed = killedCopy(file);
    expect(statSync(killed).size).toBeLessThan(8_192);
    expect(pathsIn(openStore(killed))).toEqual(['a']);
  });

  test('is empty after a close, so that the file alone is all there is', () => {
    const file = join(temporaryDirectory(), 'state.db');
    const store = openStore(file);
    addSynced(store, store.targetId(TARGET), 'docs', 'a');
    store.close();
    expect(statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
    expect(pathsIn(openStore(cleanCopy(file)))).toEqual(['a']);
  });
});

describe('a version that does not fit the tables is damage', () => {
  test.each([
    ['none, with tables', 'PRAGMA user_version = 0'],
    ['this one, without one of its tables', 'DROP TABLE mount'],
    ['this one, with a table more', 'CREATE TABLE more (x)'],
  ])('%s', (_what, sql) => {
    const file = writtenFile();
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
    expect(openReader(file, false)).toMatchObject({ kind: 'damaged' });
    const opened = openState(file, { checkThoroughly: false, nowMs: NOW });
    closeAtEnd(opened.kind === 'open' ? opened.store : { close: () => undefined });
    expect(opened).toMatchObject({ kind: 'open', setAside: { why: 'damaged' } });
  });
});

test('a state file that cannot be looked at is not in use, whatever the reason', () => {
  const directory = join(temporaryDirectory(), 'state');
  mkdirSync(directory);
  const store = openStore(join(directory, 'state.db'));
  store.checkInPlace();
  renameSync(directory, `${directory}-away`);
  symlinkSync(directory, directory);
  expect(() => {
    store.checkInPlace();
  }).toThrow(expect.objectContaining({ name: 'StateFileError', kind: 'unwritable' }) as Error);
});

test('the index of what is asked next leads to one target, in the order of time', () => {
  const columns = connect(writtenFile()).prepare('SELECT name FROM pragma_index_info(?)').all('file_ask');
  expect(columns).toEqual([{ name: 'target' }, { name: 'ask_at' }]);
});
