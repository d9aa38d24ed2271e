import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openReader } from '../../src/state/open-reader.ts';
import type { FileRecord } from '../../src/domain/record.ts';
import type { Fingerprint } from '../../src/domain/fingerprint.ts';
import { MIGRATIONS } from '../../src/state/schema.ts';
import { StateStore } from '../../src/state/state-store.ts';
import {
  addSending,
  addSynced,
  attempt,
  closeAtEnd,
  connect,
  drain,
  FOREVER,
  killedCopy,
  NOW,
  openStore,
  path,
  row,
  SHA,
  TARGET,
  temporaryDirectory,
} from './fixture.ts';

/** A new store with its target and where it is. */
function begin(): { store: StateStore; target: number; file: string } {
  const file = join(temporaryDirectory(), 'state.db');
  const store = openStore(file);
  return { store, target: store.targetId(TARGET), file };
}

describe('the life of a row', () => {
  const fresh = {
    path: 'a',
    key: 'k',
    source: 'docs',
    state: 'sending',
    fingerprint: '5:1:1:1',
    trusted: true,
    settingsDigest: 'settings',
    expiresAtMs: null,
    renewAtMs: null,
    absence: null,
    sha256: null,
    uploaded: false,
    failure: null,
    changedAtMs: NOW,
  };

  test('there is none', () => {
    const { store, target } = begin();
    expect(store.find(row(target, 'k'))).toBeNull();
  });

  test('about to be sent', async () => {
    const { store, target } = begin();
    await store.beginSending(row(target, 'k'), 'docs', path('a'), attempt(), NOW);
    expect(store.find(row(target, 'k'))).toEqual(fresh);
  });

  test('in sync: all that was sent', () => {
    const { store, target } = begin();
    const id = addSending(store, target, 'docs', 'a', 'k');
    const sent = attempt({
      fingerprint: '9:2:2:2' as Fingerprint,
      trusted: false,
      settingsDigest: 's2',
      sizeBytes: 9,
    });
    store.setAbsence(id, 'removed', NOW);
    store.recordSynced(id, sent, SHA, { expiresAtMs: NOW + 1, renewAtMs: null }, NOW + 2);
    expect(store.find(id)).toEqual({
      ...fresh,
      state: 'synced',
      fingerprint: '9:2:2:2',
      trusted: false,
      settingsDigest: 's2',
      expiresAtMs: NOW + 1,
      sha256: SHA,
      uploaded: true,
      changedAtMs: NOW + 2,
    });
    expect(store.tallies(NOW)[0]).toMatchObject({ bytes: 9 });
  });

  test('sent again: what the platform holds is unknown, and who has the key may be another', async () => {
    const { store, target } = begin();
    const id = addSynced(store, target, 'docs', 'a', { key: 'k', expiresAtMs: NOW });
    store.setAbsence(id, 'removed', NOW);
    const before = store.find(id);
    await store.beginSending(id, 'more', path('b'), attempt({ settingsDigest: 'new' }), NOW + 5);
    const begun = { state: 'sending', path: 'b', source: 'more', absence: null, changedAtMs: NOW + 5 };
    expect(store.find(id)).toEqual({ ...before, ...begun });
    // Where no upsert was sent, what was on record is so again.
    store.takeBack(id, 'synced');
    expect(store.find(id)).toEqual({ ...before, ...begun, state: 'synced' });
  });

  test.each(['failed', 'refused'] as const)('%s', (state) => {
    const { store, target } = begin();
    const id = addSending(store, target, 'docs', 'a', 'k');
    const tried = attempt({ fingerprint: '6:1:1:1' as Fingerprint, settingsDigest: 's2', trusted: false });
    store.recordFailure(id, state, tried, 'because', false, NOW + 1);
    const expected = { ...fresh, state, fingerprint: '6:1:1:1', settingsDigest: 's2', trusted: false };
    expect(store.find(id)).toEqual({ ...expected, failure: 'because', changedAtMs: NOW + 1 });
    store.recordFailure(id, state, tried, 'again', true, NOW + 2);
    expect(store.find(id)).toMatchObject({ failure: 'again', uploaded: true });
    store.recordFailure(id, state, tried, 'once more', false, NOW + 2);
    expect(store.find(id)?.uploaded).toBe(true);
  });

  test('failed after it was in sync: the platform holds something else', () => {
    const { store, target } = begin();
    const id = addSynced(store, target, 'docs', 'a');
    store.recordFailure(id, 'failed', attempt(), 'x', false, NOW);
    expect(store.find(id)).toMatchObject({ sha256: null, uploaded: true });
    store.recordSynced(id, attempt(), SHA, FOREVER, NOW);
    expect(store.find(id)).toMatchObject({ failure: null, state: 'synced' });
  });

  test('removed: about to be, then with its expiry, then gone', async () => {
    const { store, target } = begin();
    const id = addSynced(store, target, 'docs', 'a', { expiresAtMs: NOW });
    store.setAbsence(id, 'removed', NOW);
    await store.beginRemoving(id, NOW + 1);
    expect(store.find(id)).toMatchObject({
      state: 'removing',
      expiresAtMs: null,
      renewAtMs: null,
      sha256: null,
      changedAtMs: NOW + 1,
    });
    store.recordRemoved(id, 'docs', NOW + 100, NOW + 2);
    expect(store.find(id)).toMatchObject({ state: 'removing', expiresAtMs: NOW + 100, absence: 'removed' });
    store.dropExpiredRemovals(NOW + 99, 0);
    expect(store.find(id)).not.toBeNull();
    store.dropExpiredRemovals(NOW + 100, 0);
    expect(store.find(id)).toBeNull();
  });

  test('only what is being removed is dropped when it has expired', () => {
    const { store, target } = begin();
    const id = addSynced(store, target, 'docs', 'a', { expiresAtMs: NOW });
    store.dropExpiredRemovals(NOW + 1, 0);
    expect(store.find(id)).not.toBeNull();
  });

  test('touched, adopted, absent, forgotten', () => {
    const { store, target } = begin();
    const id = addSynced(store, target, 'docs', 'a');
    store.setAbsence(id, 'set-aside', NOW);
    expect(store.find(id)?.absence).toBe('set-aside');
    store.recordTouched(id, '5:8:8:8' as Fingerprint, false);
    expect(store.find(id)).toMatchObject({
      fingerprint: '5:8:8:8',
      trusted: false,
      absence: null,
      state: 'synced',
      sha256: SHA,
    });
    store.setAbsence(id, 'removed', NOW);
    store.adopt(id, 'more', path('b'));
    expect(store.find(id)).toMatchObject({ source: 'more', path: 'b', absence: null, state: 'synced' });
    store.setAbsence(id, 'removed', NOW);
    store.setAbsence(id, null, NOW);
    expect(store.find(id)?.absence).toBeNull();
    store.forget(id);
    expect(store.find(id)).toBeNull();
  });

  test('each method speaks of its row only', async () => {
    const { store, target } = begin();
    const other = store.targetId({ ...TARGET, botId: 'bot-2' });
    const neighbours = [addSynced(store, target, 'docs', 'b'), addSynced(store, other, 'docs', 'a')];
    const before = neighbours.map((id) => store.find(id));
    const id = addSending(store, target, 'docs', 'a');
    store.recordFailure(id, 'failed', attempt(), 'x', true, NOW + 1);
    store.recordSynced(
      id,
      attempt({ sizeBytes: 1 }),
      Buffer.alloc(32),
      { expiresAtMs: NOW, renewAtMs: null },
      NOW + 1,
    );
    store.recordTouched(id, '1:1:1:1' as Fingerprint, false);
    store.adopt(id, 'more', path('z'));
    store.setAbsence(id, 'removed', NOW);
    await store.beginRemoving(id, NOW + 1);
    store.recordRemoved(id, 'docs', NOW, NOW + 1);
    store.forget(id);
    expect(neighbours.map((each) => store.find(each))).toEqual(before);
  });
});

describe('targets', () => {
  test('are told apart by address, bot and identity', () => {
    const { store, target } = begin();
    const others = [{ baseUrl: 'x' }, { botId: 'x' }, { identity: '{"userId":"x"}' }].map((some) =>
      store.targetId({ ...TARGET, ...some }),
    );
    expect(new Set([target, ...others]).size).toBe(4);
    expect(store.targetId({ ...TARGET })).toBe(target);
    addSynced(store, target, 'docs', 'a');
    for (const other of others) {
      expect(store.find(row(other, 'a'))).toBeNull();
      expect(store.records(other, 'docs').current).toBeNull();
    }
  });

  test('a key is there once at each', () => {
    const { store, target } = begin();
    const other = store.targetId({ ...TARGET, botId: 'bot-2' });
    addSynced(store, target, 'docs', 'a', { key: 'k' });
    addSynced(store, target, 'more', 'b', { key: 'k' });
    addSynced(store, other, 'docs', 'a', { key: 'k' });
    expect(drain(store.records(target, 'docs'))).toEqual([]);
    expect(drain(store.records(target, 'more')).map((record) => record.path)).toEqual(['b']);
    expect(drain(store.records(other, 'docs')).map((record) => record.path)).toEqual(['a']);
  });
});

describe('the records of a source', () => {
  const pathsOf = (records: readonly FileRecord[]): string[] => records.map((record) => record.path);

  test('come in the order of bytes, of this source and target only', () => {
    const { store, target } = begin();
    const names = ['\u{1f600}', '\uffff', 'b0', 'b/c', 'b.a', 'b-a', 'B', 'é', 'z'];
    for (const name of names) addSynced(store, target, 'docs', name);
    addSynced(store, target, 'more', 'm');
    addSynced(store, store.targetId({ ...TARGET, botId: 'other' }), 'docs', 'n');
    expect(pathsOf(drain(store.records(target, 'docs')))).toEqual(
      [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
  });

  test.each([0, 1, 999, 1_000, 1_001, 2_000, 2_345])('%d of them come page by page, each once', (count) => {
    const { store, target } = begin();
    const names = Array.from({ length: count }, (_, i) => `${i}`.padStart(5, '0'));
    for (const name of [...names].reverse()) addSynced(store, target, 'docs', name);
    const cursor = store.records(target, 'docs');
    expect(pathsOf(drain(cursor))).toEqual(names);
    cursor.advance();
    expect(cursor.current).toBeNull();
  });

  test('one path under several keys comes once a key, over a page as well', () => {
    const { store, target } = begin();
    for (let i = 0; i < 998; i++) addSynced(store, target, 'docs', `a${i}`);
    for (const key of ['k1', 'k2', 'k3', 'k4']) addSynced(store, target, 'docs', 'b', { key });
    const last = drain(store.records(target, 'docs')).slice(998);
    expect(last.map((record) => [record.path, record.key])).toEqual(
      ['k1', 'k2', 'k3', 'k4'].map((key) => ['b', key]),
    );
  });

  test('a page is read when it is needed, and sees what was written meanwhile', () => {
    const { store, target } = begin();
    for (let i = 0; i < 1_000; i++) addSynced(store, target, 'docs', `a${i}`);
    const cursor = store.records(target, 'docs');
    addSynced(store, target, 'docs', 'b');
    expect(drain(cursor).length).toBe(1_001);
  });

  test('seekAfter goes on behind a path, with what is there now', () => {
    const { store, target } = begin();
    for (const name of ['a', 'b', 'd']) addSynced(store, target, 'docs', name);
    addSynced(store, target, 'docs', 'b', { key: 'x\u{10ffff}' });
    const cursor = store.records(target, 'docs');
    store.adopt(row(target, 'd'), 'more', path('d'));
    addSynced(store, target, 'docs', 'c');
    cursor.seekAfter(path('b'));
    expect(pathsOf(drain(cursor))).toEqual(['c']);
    cursor.seekAfter(path(''));
    expect(pathsOf(drain(cursor))).toEqual(['a', 'b', 'b', 'c']);
    cursor.seekAfter(path('c'));
    expect(cursor.current).toBeNull();
  });
});

describe('counts', () => {
  /** One file of every kind in `docs`. */
  const planted = (): { store: StateStore; target: number } => {
    const { store, target } = begin();
    addSynced(store, target, 'docs', 'synced', { expiresAtMs: NOW + 9 });
    addSynced(store, target, 'docs', 'synced-2', { expiresAtMs: NOW + 5 });
    addSynced(store, target, 'docs', 'expired', { expiresAtMs: NOW });
    addSending(store, target, 'docs', 'sending');
    store.recordFailure(addSending(store, target, 'docs', 'failed'), 'failed', attempt(), 'why', true, NOW);
    store.recordFailure(addSending(store, target, 'docs', 'refused'), 'refused', attempt(), 'no', false, NOW);
    for (const absence of ['removed', 'set-aside'] as const) {
      store.setAbsence(
        addSynced(store, target, 'docs', `absent-${absence}`, { expiresAtMs: NOW + 3 }),
        absence,
        NOW,
      );
      const failed = addSending(store, target, 'docs', `never-sent-${absence}`);
      store.recordFailure(failed, 'failed', attempt(), 'x', false, NOW);
      store.setAbsence(failed, absence, NOW);
      const refused = addSending(store, target, 'docs', `refused-${absence}`);
      store.recordFailure(refused, 'refused', attempt(), 'x', false, NOW);
      store.setAbsence(refused, absence, NOW);
    }
    const half = addSynced(store, target, 'docs', 'half-removed');
    store.setAbsence(half, 'removed', NOW);
    store.beginRemoving(half, NOW).catch(() => undefined);
    const removed = addSynced(store, target, 'docs', 'was-removed');
    store.setAbsence(removed, 'removed', NOW);
    store.beginRemoving(removed, NOW).catch(() => undefined);
    store.recordRemoved(removed, 'docs', NOW + 1, NOW);
    addSynced(store, target, 'more', 'other');
    return { store, target };
  };

  test('what is recorded, and which removals are due', () => {
    const { store, target } = planted();
    expect(store.countRecorded(target, 'docs')).toEqual({ present: 6, removed: 2 });
    expect(store.countRecorded(target, 'none')).toEqual({ present: 0, removed: 0 });
    expect(store.removalsDue(target, 'docs', '', NOW).map((record) => record.path)).toEqual([
      'absent-removed',
      'half-removed',
    ]);
    expect(store.removalsDue(target, 'docs', 'absent-removed', NOW).map((record) => record.path)).toEqual([
      'half-removed',
    ]);
    expect(store.removalsDue(target, 'more', '', NOW)).toEqual([]);
    expect(store.removalsDue(target + 1, 'docs', '', NOW)).toEqual([]);
  });

  test('removals that are due come page by page', () => {
    const { store, target } = begin();
    for (let i = 0; i < 1_001; i++)
      store.setAbsence(addSynced(store, target, 'docs', `a${10_000 + i}`), 'removed', NOW);
    const page = store.removalsDue(target, 'docs', '', NOW);
    expect(page.length).toBe(1_000);
    expect(
      store.removalsDue(target, 'docs', page.at(-1)?.path ?? '', NOW).map((record) => record.path),
    ).toEqual(['a11000']);
  });

  test('how a source stands', () => {
    const { store, target } = planted();
    expect(store.tallies(NOW)).toEqual([
      { source: 'docs', target, files: 2, bytes: 10, failed: 2, refused: 1, kept: 3, nextExpiryMs: NOW + 3 },
      { source: 'more', target, files: 1, bytes: 5, failed: 0, refused: 0, kept: 0, nextExpiryMs: null },
    ]);
    expect(openStore().tallies(NOW)).toEqual([]);
  });

  test('failures, with the reason, in path order', () => {
    const { store } = planted();
    store.noteProblem({ source: 'docs', path: 'g', key: null, kind: 'problem', reason: 'unreadable' }, 1);
    store.noteProblem({ source: 'docs', path: 'h', key: 'h', kind: 'refuse', reason: 'too large' }, 1);
    const all = [
      { source: 'docs', path: 'failed', key: 'failed', kind: 'failed', reason: 'why' },
      { source: 'docs', path: 'g', key: null, kind: 'problem', reason: 'unreadable' },
      { source: 'docs', path: 'h', key: 'h', kind: 'refuse', reason: 'too large' },
      { source: 'docs', path: 'refused', key: 'refused', kind: 'refused', reason: 'no' },
      {
        source: 'docs',
        path: 'sending',
        key: 'sending',
        kind: 'sending',
        reason: 'interrupted while it was sent',
      },
    ];
    expect(
      store.failures(
        new Map([
          ['docs', 1],
          ['more', 1],
        ]),
        10,
      ),
    ).toEqual(all);
    expect(
      store.failures(
        new Map([
          ['docs', 1],
          ['more', 1],
        ]),
        2,
      ),
    ).toEqual(all.slice(0, 2));
  });

  test('removals carried out since a moment, by source; old ones are dropped', () => {
    const { store, target } = begin();
    for (const [name, atMs] of [
      ['a', 10],
      ['b', 20],
      ['c', 30],
    ] as const) {
      store.recordRemoved(addSynced(store, target, 'docs', name), 'docs', NOW, atMs);
    }
    store.recordRemoved(addSynced(store, target, 'more', 'd'), 'more', NOW, 30);
    expect([10, 11, 30, 31].map((since) => store.countRemovals('docs', since))).toEqual([3, 2, 1, 0]);
    store.dropExpiredRemovals(0, 20);
    expect(store.countRemovals('docs', 0)).toBe(2);
    expect(store.countRemovals('more', 0)).toBe(1);
  });
});

describe('problems, sources, passes', () => {
  test('a problem is renewed by its source and path, and dropped when a pass did not see it again', () => {
    const { store } = begin();
    const note = (source: string, at: string, reason: string, pass: number): void => {
      store.noteProblem({ source, path: at, key: null, kind: 'refuse', reason }, pass);
    };
    note('docs', 'a', 'first', 1);
    note('docs', 'b', 'first', 1);
    note('more', 'a', 'first', 1);
    note('docs', 'b', 'second', 2);
    store.noteProblem({ source: 'docs', path: 'c', key: null, kind: 'problem', reason: 'x' }, 2);
    expect(store.refusedHere()).toEqual(
      new Map([
        ['docs', 2],
        ['more', 1],
      ]),
    );
    store.dropProblemsBefore('docs', 2);
    expect(
      store
        .failures(
          new Map([
            ['docs', 1],
            ['more', 1],
          ]),
          10,
        )
        .map(({ source, path: at, reason }) => [source, at, reason]),
    ).toEqual([
      ['docs', 'b', 'second'],
      ['docs', 'c', 'x'],
      ['more', 'a', 'first'],
    ]);
  });

  test('a source is remembered as it was last seen', () => {
    const { store } = begin();
    expect(store.source('docs')).toBeNull();
    store.saveSource('docs', { directory: '/d', identity: '1', halted: null });
    store.saveSource('docs', { directory: '/d', identity: '2', halted: 'gone' });
    store.saveSource('more', { directory: '/m', identity: '3', halted: null });
    expect(store.source('docs')).toEqual({ directory: '/d', identity: '2', halted: 'gone' });
    expect(store.source('more')).toEqual({ directory: '/m', identity: '3', halted: null });
  });

  test('the last pass is, and the next one gets a number', () => {
    const { store } = begin();
    expect(store.lastPass()).toBeNull();
    expect(store.nextPassNumber()).toBe(1);
    store.savePass(1, NOW, 3, '{"uploaded":1}');
    store.savePass(2, NOW + 1, 0, '{}');
    expect(store.lastPass()).toEqual({ finishedAtMs: NOW + 1, exitCode: 0, summary: '{}' });
    expect(store.nextPassNumber()).toBe(3);
  });
});

describe('durability', () => {
  const stateOf = (file: string, key: string): string | null => {
    const opened = openReader(file, false);
    if (opened.kind !== 'open') throw new Error(opened.kind);
    const found = opened.reader.find(row(opened.reader.targetId(TARGET), key));
    opened.close();
    return found?.state ?? null;
  };

  test('an intent is on disk before its promise resolves', async () => {
    const { store, target, file } = begin();
    const began = store.beginSending(row(target, 'a'), 'docs', path('a'), attempt(), NOW);
    expect(stateOf(killedCopy(file), 'a')).toBeNull();
    await began;
    expect(stateOf(killedCopy(file), 'a')).toBe('sending');
    store.recordSynced(row(target, 'a'), attempt(), SHA, FOREVER, NOW);
    await store.beginRemoving(row(target, 'a'), NOW);
    expect(stateOf(killedCopy(file), 'a')).toBe('removing');
  });

  test('all intents of a turn are, and those that come while others are being written down', async () => {
    const { store, target, file } = begin();
    const names = Array.from({ length: 300 }, (_, i) => `f${i}`);
    const all = names.map(async (name, i) => {
      if (i % 3 > 0)
        await store.beginSending(row(target, `before-${name}`), 'docs', path(`b-${name}`), attempt(), NOW);
      await store.beginSending(row(target, name), 'docs', path(name), attempt(), NOW);
      if (i % 50 === 0) expect(stateOf(killedCopy(file), name)).toBe('sending');
    });
    await Promise.all(all);
    expect(stateOf(killedCopy(file), 'f299')).toBe('sending');
  });

  test('an intent that comes long after the last one is', async () => {
    const { store, target, file } = begin();
    for (const name of ['a', 'b', 'c']) {
      await store.beginSending(row(target, name), 'docs', path(name), attempt(), NOW);
      expect(stateOf(killedCopy(file), name)).toBe('sending');
      // The flush of the one before has come to rest.
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  });

  test('whoever waits for nothing new waits for no one', async () => {
    const { store, target } = begin();
    await store.beginSending(row(target, 'a'), 'docs', path('a'), attempt(), NOW);
    await store.beginRemoving(row(target, 'unknown'), NOW);
    expect(store.find(row(target, 'unknown'))).toBeNull();
  });

  describe('of what nobody waits for', () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    test('comes with the group, once it is 50 ms old', () => {
      const { store, file } = begin();
      store.savePass(1, NOW, 0, '"first"');
      const seen = (): unknown => connect(file).prepare('SELECT summary FROM pass').get();
      // The connection itself sees it at once.
      expect(store.lastPass()?.summary).toBe('"first"');
      vi.advanceTimersByTime(49);
      expect(seen()).toBeUndefined();
      vi.advanceTimersByTime(1);
      expect(seen()).toEqual({ summary: '"first"' });
      store.savePass(2, NOW, 0, '"second"');
      expect(seen()).toEqual({ summary: '"first"' });
      vi.advanceTimersByTime(50);
      expect(seen()).toEqual({ summary: '"second"' });
    });

    test('comes with the close', () => {
      const { store, file } = begin();
      store.savePass(1, NOW, 0, '"first"');
      store.close();
      expect(connect(file).prepare('SELECT summary FROM pass').get()).toEqual({ summary: '"first"' });
      expect(vi.getTimerCount()).toBe(0);
    });
  });

  /** A store on a database that soon has no room for another page: what a full disk is to SQLite. */
  const nearlyFull = (): { store: StateStore; target: number; file: string } => {
    const file = join(temporaryDirectory(), 'state.db');
    const database = new DatabaseSync(file);
    database.exec('PRAGMA journal_mode = WAL');
    for (const step of MIGRATIONS) database.exec(step);
    const store = new StateStore(database, file);
    closeAtEnd(store);
    const target = store.targetId(TARGET);
    store.savePass(1, NOW, 0, '{}');
    const { page_count: pages } = database.prepare('PRAGMA page_count').get() as { page_count: number };
    database.exec(`PRAGMA max_page_count = ${pages + 1}`);
    return { store, target, file };
  };
  const fill = (store: StateStore): void => {
    store.savePass(2, NOW, 0, 'x'.repeat(100_000));
  };

  test('a full disk is said so', () => {
    const { store } = nearlyFull();
    expect(() => {
      fill(store);
    }).toThrow(expect.objectContaining({ name: 'StateFileError', kind: 'unwritable' }));
  });

  test('an intent that a full disk took along is not taken for durable', async () => {
    const { store, target } = nearlyFull();
    const began = store.beginSending(row(target, 'a'), 'docs', path('a'), attempt(), NOW);
    expect(() => {
      fill(store);
    }).toThrow();
    await expect(began).rejects.toMatchObject({ kind: 'unwritable' });
  });

  test('what a full disk took along is not forgotten: neither the next write nor the end goes well', () => {
    const { store } = nearlyFull();
    expect(() => {
      fill(store);
    }).toThrow();
    expect(() => {
      store.savePass(3, NOW, 0, '{}');
    }).toThrow(expect.objectContaining({ kind: 'unwritable' }));
    expect(() => {
      store.close();
    }).toThrow(expect.objectContaining({ kind: 'unwritable' }));
  });
});
