import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, startOf, type HistoryBucket } from '../../src/domain/history.ts';
import { openReader } from '../../src/store/open-reader.ts';
import type { StateStore } from '../../src/store/state-store.ts';
import { attempt, begin, closeAtEnd, connect, FOREVER, NOW, openStore, path, row, SHA } from './fixture.ts';

const MINUTE = startOf(NOW, MINUTE_MS);
const HOUR = startOf(NOW, HOUR_MS);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A bucket with these counts and no others. */
function bucket(startMs: number, spanMs: number, counts: Partial<HistoryBucket>): HistoryBucket {
  return {
    ...{ startMs, spanMs, sentFiles: 0, sentBytes: 0, updated: 0, adopted: 0, removed: 0, failed: 0 },
    ...{ refused: 0, requests: 0, throttled: 0, requestLimit: null },
    ...counts,
  };
}

function all(store: StateStore): HistoryBucket[] {
  return store.history.buckets(0, 1e15);
}

/** What another process reads. */
function seen(file: string): HistoryBucket[] {
  const opened = openReader(file, true);
  if (opened.kind !== 'open') throw new Error(opened.kind);
  closeAtEnd(opened);
  const buckets = opened.reader.history.buckets(0, 1e15);
  opened.close();
  return buckets;
}

/** A new store whose first group is written. */
function beginQuietly(): ReturnType<typeof begin> {
  const begun = begin();
  vi.advanceTimersByTime(50);
  return begun;
}

/** Has one file sent at each of these moments, and written. */
function sendAt(store: StateStore, moments: readonly number[]): void {
  for (const [nth, nowMs] of moments.entries()) {
    store.history.note({ sentFiles: 1, sentBytes: 10 }, nowMs, 1000 + nth);
    store.savePass(nth, nowMs, 0, '{}');
    vi.advanceTimersByTime(50);
  }
}

function everyMinute(fromMs: number, minutes: number): number[] {
  return Array.from({ length: minutes }, (_, nth) => fromMs + nth * MINUTE_MS);
}

describe('counts', () => {
  test('of a minute are one bucket, with the lowest limit', () => {
    const { store } = begin();
    store.history.note({ sentFiles: 1, sentBytes: 100 }, NOW);
    store.history.note({ requests: 1 }, NOW + 1000, 6000);
    store.history.note({ requests: 1, throttled: 1 }, NOW + 2000, 3000);
    store.history.note({ requests: 1 }, NOW + 3000, 6000);
    store.history.note({ failed: 2, refused: 3, removed: 4, updated: 5, adopted: 6 }, NOW + 4000);
    const counts = { sentFiles: 1, sentBytes: 100, requests: 3, throttled: 1, requestLimit: 3000 };
    const others = { failed: 2, refused: 3, removed: 4, updated: 5, adopted: 6 };
    const expected = [bucket(MINUTE, MINUTE_MS, { ...counts, ...others })];
    expect(all(store)).toEqual(expected);
    store.savePass(1, NOW, 0, '{}');
    vi.advanceTimersByTime(50);
    expect(all(store)).toEqual(expected);
  });

  test('are added to those of the same minute that are written', () => {
    const { store, file } = begin();
    const note = (): void => {
      store.history.note({ sentFiles: 1, requests: 2 }, NOW, 6000);
    };
    note();
    store.savePass(1, NOW, 0, '{}');
    vi.advanceTimersByTime(50);
    note();
    // What is not written yet counts here, and not for others.
    const both = [bucket(MINUTE, MINUTE_MS, { sentFiles: 2, requests: 4, requestLimit: 6000 })];
    expect(all(store)).toEqual(both);
    expect(seen(file)).toMatchObject([{ sentFiles: 1 }]);
    store.close();
    expect(seen(file)).toEqual(both);
  });

  test.each<[(number | null)[], number | null]>([
    [[null, null], null],
    [[null, 6000], 6000],
    [[6000, null], 6000],
    [[3000, 6000], 3000],
    [[6000, 3000], 3000],
  ])(
    'of one minute, written one after the other with the limits %j, have the limit %j',
    (limits, expected) => {
      const { store } = begin();
      for (const limit of limits) {
        store.history.note({ requests: 1 }, NOW, limit);
        store.savePass(1, NOW, 0, '{}');
        vi.advanceTimersByTime(50);
        expect(store.history.isPending).toBe(false);
      }
      expect(all(store)).toEqual([bucket(MINUTE, MINUTE_MS, { requests: 2, requestLimit: expected })]);
    },
  );

  test('survive the process, and those of the next one are added', () => {
    const { store, file } = begin();
    store.history.note({ sentFiles: 1 }, NOW);
    store.close();
    const next = openStore(file);
    next.history.note({ sentFiles: 2 }, NOW + 1000);
    next.history.note({ failed: 1 }, NOW + MINUTE_MS);
    next.close();
    expect(seen(file)).toEqual([
      bucket(MINUTE, MINUTE_MS, { sentFiles: 3 }),
      bucket(MINUTE + MINUTE_MS, MINUTE_MS, { failed: 1 }),
    ]);
  });

  test('by a clock that goes back go to the minute that it shows', () => {
    const { store } = begin();
    store.history.note({ sentFiles: 1 }, NOW);
    store.history.note({ sentFiles: 2 }, NOW - 5 * MINUTE_MS);
    store.history.note({ sentFiles: 4 }, NOW);
    expect(all(store)).toEqual([
      bucket(MINUTE - 5 * MINUTE_MS, MINUTE_MS, { sentFiles: 2 }),
      bucket(MINUTE, MINUTE_MS, { sentFiles: 5 }),
    ]);
  });
});

test('a range takes in what it touches, oldest first', () => {
  const { store } = begin();
  for (const nth of [3, 0, 1, 2]) store.history.note({ sentFiles: nth + 1 }, MINUTE + nth * MINUTE_MS);
  const sent = (sinceMs: number, untilMs: number): number[] =>
    store.history.buckets(sinceMs, untilMs).map(({ sentFiles }) => sentFiles);
  expect(sent(MINUTE, MINUTE + 4 * MINUTE_MS)).toEqual([1, 2, 3, 4]);
  expect(sent(MINUTE + MINUTE_MS - 1, MINUTE + 2 * MINUTE_MS + 1)).toEqual([1, 2, 3]);
  expect(sent(MINUTE + MINUTE_MS, MINUTE + 2 * MINUTE_MS)).toEqual([2]);
});

describe('when it is written', () => {
  test('with what is written anyway, in a transaction of its own', () => {
    const { store, file } = beginQuietly();
    store.history.note({ sentFiles: 1 }, NOW);
    vi.advanceTimersByTime(50);
    expect(seen(file)).toEqual([]);
    store.savePass(1, NOW, 0, '{}');
    vi.advanceTimersByTime(50);
    expect(seen(file)).toMatchObject([{ sentFiles: 1 }]);
  });

  test('where nothing else is written, at the turn of the minute', () => {
    const { store, file } = beginQuietly();
    const leftMs = MINUTE + MINUTE_MS - NOW;
    store.history.note({ requests: 1 }, NOW);
    store.history.note({ requests: 1 }, NOW + 1);
    vi.advanceTimersByTime(leftMs - 1);
    expect(seen(file)).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(seen(file)).toMatchObject([{ requests: 2 }]);
    // Nothing happens, nothing is written.
    expect(vi.getTimerCount()).toBe(0);
    store.history.note({ requests: 1 }, NOW + DAY_MS);
    expect(vi.getTimerCount()).toBe(1);
  });

  test('at the end of the run', () => {
    const { store, file } = begin();
    store.history.note({ requests: 1 }, NOW);
    store.close();
    expect(seen(file)).toMatchObject([{ requests: 1 }]);
    // An answer that comes after it is not counted, and leaves no timer.
    store.history.note({ requests: 1 }, NOW);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('what a later minute brings does not wait in memory with what came before', () => {
    const { store, file } = beginQuietly();
    for (const nowMs of everyMinute(NOW, 5)) store.history.note({ requests: 1 }, nowMs);
    expect(seen(file)).toHaveLength(4);
    expect(all(store)).toHaveLength(5);
  });
});

describe('as time goes by', () => {
  test('minutes of more than a day ago become hours, and the sums stay the same', () => {
    const { store, file } = begin();
    sendAt(store, everyMinute(HOUR, 3 * 60));
    expect(all(store)).toHaveLength(180);
    // Within the third hour of the next day.
    const laterMs = HOUR + DAY_MS + 2 * HOUR_MS + 30 * MINUTE_MS;
    store.history.note({ failed: 1 }, laterMs);
    store.close();
    const buckets = seen(file);
    expect(buckets.slice(0, 2)).toEqual([
      bucket(HOUR, HOUR_MS, { sentFiles: 60, sentBytes: 600, requestLimit: 1000 }),
      bucket(HOUR + HOUR_MS, HOUR_MS, { sentFiles: 60, sentBytes: 600, requestLimit: 1060 }),
    ]);
    expect(buckets.slice(2, -1)).toEqual(
      everyMinute(HOUR + 2 * HOUR_MS, 60).map((startMs, nth) =>
        bucket(startMs, MINUTE_MS, { sentFiles: 1, sentBytes: 10, requestLimit: 1120 + nth }),
      ),
    );
    expect(buckets.at(-1)).toEqual(bucket(startOf(laterMs, MINUTE_MS), MINUTE_MS, { failed: 1 }));
  });

  test('a minute that comes late, by a clock that went back, is added to its hour', () => {
    const { store } = begin();
    sendAt(store, [HOUR, HOUR + DAY_MS + HOUR_MS]);
    expect(all(store)[0]).toMatchObject({ spanMs: HOUR_MS, sentFiles: 1 });
    sendAt(store, [HOUR + MINUTE_MS]);
    expect(all(store).slice(0, 2)).toMatchObject([
      { startMs: HOUR, spanMs: HOUR_MS, sentFiles: 1 },
      { startMs: HOUR + MINUTE_MS, spanMs: MINUTE_MS, sentFiles: 1 },
    ]);
    sendAt(store, [HOUR + DAY_MS + 2 * HOUR_MS]);
    expect(all(store)[0]).toMatchObject({ startMs: HOUR, spanMs: HOUR_MS, sentFiles: 2 });
  });

  test('hours of more than 30 days ago are dropped', () => {
    const { store } = begin();
    const days = Array.from({ length: 40 }, (_, day) => HOUR + day * DAY_MS);
    sendAt(store, days);
    const buckets = all(store);
    expect(buckets[0]?.startMs).toBe(HOUR + 9 * DAY_MS);
    expect(buckets.map(({ spanMs }) => spanMs)).toEqual([
      ...Array<number>(29).fill(HOUR_MS),
      // A day ago to the minute is not more than a day ago.
      ...[MINUTE_MS, MINUTE_MS],
    ]);
  });

  test('a clock that is ahead for an hour costs the oldest two days at most', () => {
    const { store } = begin();
    const hours = Array.from({ length: 100 }, (_, nth) => HOUR + nth * HOUR_MS);
    sendAt(store, [...hours, HOUR + 1000 * DAY_MS]);
    const nowMs = HOUR + 100 * HOUR_MS;
    sendAt(store, [nowMs]);
    const kept = store.history.buckets(0, nowMs + HOUR_MS);
    expect(kept[0]?.startMs).toBe(HOUR + 48 * HOUR_MS);
    expect(kept).toHaveLength(53);
  });

  test('there are never more rows than a clock that jumps about could leave in a day', () => {
    const { store, file } = beginQuietly();
    connect(file).exec(
      `WITH RECURSIVE minute (nth) AS (SELECT 0 UNION ALL SELECT nth + 1 FROM minute WHERE nth < 4999)
       INSERT INTO history SELECT 60000, ${HOUR + 500 * DAY_MS} + nth * 60000, 1, 1, 0, 0, 0, 0, 0, 0, 0, NULL FROM minute`,
    );
    sendAt(store, [NOW]);
    const buckets = all(store);
    expect(buckets).toHaveLength(4000);
    expect(buckets[0]).toMatchObject({ startMs: MINUTE });
    expect(buckets[1]).toMatchObject({ startMs: HOUR + 500 * DAY_MS });
  });
});

describe('the least important thing in the file', () => {
  /** Lets every row of the history fail as a full disk or a damaged page lets it. */
  const spoil = (file: string): void => {
    connect(file).exec(
      "CREATE TRIGGER spoilt BEFORE INSERT ON history BEGIN SELECT raise(ROLLBACK, 'no history today'); END",
    );
  };

  test('takes nothing else along when it cannot be written', async () => {
    vi.useRealTimers();
    const { store, target, file } = begin();
    await store.beginSending(row(target, 'before'), 'docs', path('before'), attempt(), NOW);
    spoil(file);
    store.history.note({ sentFiles: 1 }, NOW);
    await store.beginSending(row(target, 'a'), 'docs', path('a'), attempt(), NOW);
    store.history.note({ sentFiles: 1 }, NOW);
    store.recordSynced(row(target, 'a'), attempt(), SHA, FOREVER, NOW);
    store.history.note({ sentFiles: 1 }, NOW);
    store.close();
    const records = connect(file).prepare('SELECT key, state FROM file ORDER BY key').all();
    expect(records).toEqual([
      { key: 'a', state: 'synced' },
      { key: 'before', state: 'sending' },
    ]);
    expect(connect(file).prepare('SELECT count(*) AS rows FROM history').get()).toEqual({ rows: 0 });
  });

  test('is no reason to fail where nothing else is written', () => {
    const { store, file } = beginQuietly();
    spoil(file);
    store.history.note({ requests: 1 }, NOW);
    vi.advanceTimersByTime(MINUTE_MS);
    expect(all(store)).toEqual([]);
    store.history.note({ requests: 1 }, NOW);
    store.savePass(7, NOW, 0, '{}');
    store.close();
    expect(connect(file).prepare('SELECT number FROM pass').get()).toEqual({ number: 7 });
  });

  test('takes no more memory when it cannot be written', () => {
    const { store, file } = beginQuietly();
    spoil(file);
    for (const nowMs of everyMinute(NOW, 500)) store.history.note({ requests: 1 }, nowMs);
    expect(all(store)).toHaveLength(1);
  });

  test('is not believed when it makes no sense', () => {
    const { store, file } = beginQuietly();
    store.history.note({ requests: 1 }, NOW);
    store.close();
    connect(file).exec('UPDATE history SET sent_files = -1');
    expect(() => seen(file)).toThrow(expect.objectContaining({ name: 'StateFileError', kind: 'damaged' }));
  });
});
