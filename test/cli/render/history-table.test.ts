import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, together, type HistoryBucket } from '../../../src/domain/history.ts';
import { historyTable } from '../../../src/cli/commands/history.ts';

beforeEach(() => {
  vi.stubEnv('TZ', 'Europe/Berlin');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

function bucket(start: string, spanMs: number, counts: Partial<HistoryBucket>): HistoryBucket {
  return { ...together([], { startMs: Date.parse(start), spanMs }), ...counts };
}

test('a short time is shown by minutes, without the columns that say nothing', () => {
  const buckets = [
    bucket('2026-11-22T12:07:00Z', MINUTE_MS, { sentFiles: 1, sentBytes: 1000, requests: 2 }),
    bucket('2026-11-22T12:08:00Z', MINUTE_MS, { failed: 1, refused: 2, requests: 1204 }),
    bucket('2026-11-22T12:30:00Z', MINUTE_MS, { requests: 5 }),
  ];
  expect(historyTable(buckets, 2 * HOUR_MS)).toEqual([
    'Time          Sent  Size  Failed  Requests',
    'Nov 22 13:07     1  1 kB                 2',
    'Nov 22 13:08                   3     1,204',
    '…',
    'Nov 22 13:30                             5',
  ]);
});

test('a day is shown by hours, also where a clock shows one of them twice', () => {
  const buckets = [
    // Clocks go back from three to two.
    bucket('2026-10-25T00:10:00Z', MINUTE_MS, { sentFiles: 1, sentBytes: 1 }),
    bucket('2026-10-25T00:50:00Z', MINUTE_MS, { sentFiles: 1, sentBytes: 1 }),
    bucket('2026-10-25T01:10:00Z', MINUTE_MS, { sentFiles: 4, sentBytes: 1, throttled: 7 }),
    bucket('2026-10-25T05:00:00Z', HOUR_MS, { removed: 3, updated: 2, adopted: 1 }),
  ];
  expect(historyTable(buckets, DAY_MS)).toEqual([
    'Time          Sent  Size  Updated  Removed  Failed  Requests  429',
    'Oct 25 02:00     2   2 B',
    'Oct 25 02:00     4   1 B                                        7',
    '…',
    'Oct 25 06:00                    3        3',
  ]);
});

test('a longer time is shown by the days of the place, which may have 23 hours', () => {
  const buckets = [
    bucket('2026-03-27T23:00:00Z', HOUR_MS, { sentFiles: 1, sentBytes: 1 }),
    bucket('2026-03-28T22:00:00Z', HOUR_MS, { sentFiles: 2, sentBytes: 1 }),
    bucket('2026-03-28T23:00:00Z', HOUR_MS, { sentFiles: 4, sentBytes: 1 }),
    bucket('2026-03-29T22:00:00Z', HOUR_MS, { sentFiles: 8, sentBytes: 1 }),
  ];
  expect(historyTable(buckets, 7 * DAY_MS)).toEqual([
    'Day         Sent  Size  Failed  Requests',
    'Sat Mar 28     3   2 B',
    'Sun Mar 29     4   1 B',
    'Mon Mar 30     8   1 B',
  ]);
});

test('large numbers in all columns fit on a terminal', () => {
  const counts = {
    sentFiles: 123_456,
    sentBytes: 1.23e12,
    updated: 12_345,
    adopted: 123_456,
    removed: 12_345,
  };
  const all = { ...counts, failed: 1234, requests: 1_234_567, throttled: 1234 };
  const lines = historyTable([bucket('2026-11-22T12:00:00Z', HOUR_MS, all)], DAY_MS);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
});
