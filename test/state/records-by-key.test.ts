import { describe, expect, test } from 'vitest';
import type { KeyCursor, StoredFile } from '../../src/state/state-reader.ts';
import { addSynced, begin, path, row, SHA, TARGET } from './fixture.ts';

/** The keys from where a cursor stands, at most so many. */
function keysOf(
  cursor: KeyCursor,
  most = Infinity,
  meet: (record: StoredFile) => void = () => undefined,
): string[] {
  const keys: string[] = [];
  for (let record = cursor.current; record !== null && keys.length < most; record = cursor.current) {
    keys.push(record.key);
    meet(record);
    cursor.advance();
  }
  return keys;
}

const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `k${`${i}`.padStart(5, '0')}`);

describe('the records of a target by key', () => {
  test('come over all sources in the order of bytes, of this target only', () => {
    const { store, target } = begin();
    const keys = ['\u{1f600}', '\uffff', 'b0', 'b/c', 'b.a', 'b-a', 'B', 'é', 'z'];
    // The paths sort the other way round.
    keys.forEach((key, at) => {
      addSynced(store, target, at % 2 === 0 ? 'docs' : 'more', `${at}`, { key });
    });
    addSynced(store, store.targetId({ ...TARGET, botId: 'other' }), 'docs', 'n');
    expect(keysOf(store.recordsByKey(target))).toEqual(
      [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    expect(store.recordsByKey(store.targetId({ ...TARGET, botId: 'none' })).current).toBeNull();
  });

  test('say of each record what is known of a single one', () => {
    const { store, target } = begin();
    const id = addSynced(store, target, 'more', 'a', { key: 'k' });
    const { current } = store.recordsByKey(target);
    expect(current).toEqual(store.find(id));
    expect(current).toMatchObject({ source: 'more', path: 'a', key: 'k', sha256: SHA, uploaded: true });
  });

  test.each([0, 1, 999, 1_000, 1_001, 2_000, 2_345])('%d of them come page by page, each once', (count) => {
    const { store, target } = begin();
    const keys = numbered(count);
    for (const key of [...keys].reverse()) addSynced(store, target, 'docs', `${key} reversed`, { key });
    const cursor = store.recordsByKey(target);
    expect(keysOf(cursor)).toEqual(keys);
    cursor.advance();
    expect(cursor.current).toBeNull();
  });

  test('rows that change behind the cursor are not met again, those ahead as they are by then', () => {
    const { store, target } = begin();
    const keys = numbered(2_500);
    for (const key of keys) addSynced(store, target, 'docs', key);
    const cursor = store.recordsByKey(target);
    expect(keysOf(cursor, 1_000)).toEqual(keys.slice(0, 1_000));
    // The cursor stands on the first record of the second page: what follows it on that page was read.
    store.forget(row(target, 'k00003'));
    addSynced(store, target, 'docs', 'new', { key: 'k00500-new' });
    store.adopt(row(target, 'k00600'), 'more', path('elsewhere'));
    addSynced(store, target, 'docs', 'ahead', { key: 'k02100-new' });
    store.adopt(row(target, 'k02200'), 'more', path('a'));
    store.forget(row(target, 'k02300'));
    const rest = keys.slice(1_000).flatMap((key) => {
      if (key === 'k02300') return [];
      return key === 'k02100' ? [key, 'k02100-new'] : [key];
    });
    const met: string[] = [];
    expect(
      keysOf(cursor, Infinity, ({ key, source, path: at }) => {
        if (source === 'more') met.push(`${key} ${at}`);
      }),
    ).toEqual(rest);
    expect(met).toEqual(['k02200 a']);
    // The same again from the start shows all of it.
    const again = keysOf(store.recordsByKey(target));
    expect(again.slice(0, 5)).toEqual(['k00000', 'k00001', 'k00002', 'k00004', 'k00005']);
    expect(again).toHaveLength(2_500);
    expect(again).toContain('k00500-new');
  });

  test('a page is read from behind the last key, though its row has gone', () => {
    const { store, target } = begin();
    const keys = numbered(1_001);
    for (const key of keys) addSynced(store, target, 'docs', key);
    const cursor = store.recordsByKey(target);
    expect(keysOf(cursor, 999)).toHaveLength(999);
    expect(cursor.current?.key).toBe('k00999');
    store.forget(row(target, 'k00999'));
    addSynced(store, target, 'docs', 'between', { key: 'k00999-between' });
    cursor.advance();
    expect(keysOf(cursor)).toEqual(['k00999-between', 'k01000']);
  });

  test('after the last one comes what has come since', () => {
    const { store, target } = begin();
    addSynced(store, target, 'docs', 'a');
    const cursor = store.recordsByKey(target);
    expect(keysOf(cursor)).toEqual(['a']);
    addSynced(store, target, 'docs', 'A');
    addSynced(store, target, 'more', 'b');
    cursor.advance();
    expect(keysOf(cursor)).toEqual(['b']);
  });
});
