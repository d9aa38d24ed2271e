import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openReader } from '../../src/store/open-reader.ts';
import { SCHEMA } from '../../src/store/schema.ts';
import { StateStore } from '../../src/store/state-store.ts';
import {
  attempt,
  begin,
  closeAtEnd,
  connect,
  FOREVER,
  killedCopy,
  NOW,
  path,
  row,
  SHA,
  TARGET,
  temporaryDirectory,
} from './fixture.ts';

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
    await store.removals.beginRemoving(row(target, 'a'), NOW);
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
    await store.removals.beginRemoving(row(target, 'unknown'), NOW);
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
      expect(store.overview.lastPass()?.summary).toBe('"first"');
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
    database.exec(SCHEMA);
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
