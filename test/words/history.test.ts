import { expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS, together, type HistoryBucket } from '../../src/domain/history.ts';
import { describeDoings } from '../../src/words/history.ts';

function bucket(spanMs: number, counts: Partial<HistoryBucket>): HistoryBucket {
  return { ...together([], { startMs: 0, spanMs }), ...counts };
}

test.each<[string, HistoryBucket[]]>([
  ['0 files sent; 0 requests', []],
  [
    '1 file sent (5 B); 1 request, at most 1 a minute',
    [bucket(MINUTE_MS, { sentFiles: 1, sentBytes: 5, requests: 1 })],
  ],
  [
    '0 files sent, 1 with other settings, 2 there already, 3 removed, 4 failed, 5 refused; 0 requests',
    [bucket(MINUTE_MS, { updated: 1, adopted: 2, removed: 3, failed: 4, refused: 5 })],
  ],
  [
    '2,000 files sent (2 MB); 4,500 requests, at most 1,500 of 3,000 a minute, 2 over the rate limit',
    [
      // An hour is known by its average.
      bucket(HOUR_MS, { requests: 3000, requestLimit: 6000 }),
      bucket(MINUTE_MS, {
        sentFiles: 2000,
        sentBytes: 2e6,
        requests: 1500,
        requestLimit: 3000,
        throttled: 2,
      }),
    ],
  ],
])('%s', (words, buckets) => {
  expect(describeDoings(buckets)).toBe(words);
});
