import { HIGHEST_KEY } from '../../src/store/file-reader.ts';
import { describe, expect, test } from 'vitest';
import type { FileRecord } from '../../src/domain/record.ts';
import { addSynced, begin, drain, path, row, TARGET } from './fixture.ts';

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
    cursor.seekAfter({ path: path('b'), key: HIGHEST_KEY });
    expect(pathsOf(drain(cursor))).toEqual(['c']);
    cursor.seekAfter({ path: path(''), key: HIGHEST_KEY });
    expect(pathsOf(drain(cursor))).toEqual(['a', 'b', 'b', 'c']);
    cursor.seekAfter({ path: path('c'), key: HIGHEST_KEY });
    expect(cursor.current).toBeNull();
  });
});
