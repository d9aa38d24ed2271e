import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkExpiry, removalExpiry, renewalTime, type ExpiryCheck } from '../../src/domain/expiry.ts';
import {
  isTrustworthy,
  nanoseconds,
  showsEveryChange,
  sizeInFingerprint,
} from '../../src/domain/fingerprint.ts';
import { retryDelayMs } from '../../src/domain/retry.ts';
import type { Expiry } from '../../src/domain/settings.ts';
import { TokenBucket } from '../../src/domain/token-bucket.ts';
import { DAY, facts, fingerprint, HOUR, MINUTE, NOW, SECOND } from './fixture.ts';
import { describeObstacle } from '../../src/words/obstacle.ts';

describe('a fingerprint', () => {
  test.each(['size', 'mtimeNs', 'ctimeNs', 'ino'] as const)('changes with %s', (fact) => {
    const before = facts({ mtimeNs: 1_700_000_000_123_456_789n });
    expect(fingerprint({ ...before, [fact]: (before[fact] ?? 0n) + 1n })).not.toBe(fingerprint(before));
  });

  test('says whether it would show every change', () => {
    expect(showsEveryChange(fingerprint())).toBe(true);
    expect(showsEveryChange(fingerprint({ ctimeNs: null, ino: null }))).toBe(false);
  });

  test('gives the size back', () => {
    expect(sizeInFingerprint(fingerprint({ size: 0n }))).toBe(0);
    expect(sizeInFingerprint(fingerprint({ size: 1_000_000_000_001n }))).toBe(1_000_000_000_001);
  });
});

describe('trust in a fingerprint', () => {
  const began = 1_700_000_000_000_000_000n;
  const two = 2_000_000_000n;
  const rows: readonly (readonly [mtime: bigint, ctime: bigint, trusted: boolean])[] = [
    [began - two, began - two, true],
    [began - two, began - two + 1n, false],
    [0n, began, false],
    [0n, 0n, true],
    // A clock that was set back since
    [0n, began + two, false],
    // Anyone may set an mtime; only the kernel sets a ctime
    [began - two + 1n, began - two, true],
    [began, 0n, true],
    [4_000_000_000_000_000_000n, 0n, true],
  ];
  test.each(rows)('mtime %d, ctime %d: %j', (mtimeNs, ctimeNs, trusted) => {
    expect(isTrustworthy(facts({ mtimeNs, ctimeNs }), began)).toBe(trusted);
  });

  const three = 3_000_000_000n;
  test.each([
    [began - three, true],
    [began - three + 1n, false],
    [began, false],
    [began + three, false],
  ])('without a ctime, mtime %d: %j', (mtimeNs, trusted) => {
    expect(isTrustworthy(facts({ mtimeNs, ctimeNs: null, ino: null }), began)).toBe(trusted);
  });
});

test('milliseconds in nanoseconds: what began within one counts from its beginning', () => {
  expect(nanoseconds(1_700_000_000_123)).toBe(1_700_000_000_123_000_000n);
  expect(nanoseconds(1_700_000_000_123.9)).toBe(1_700_000_000_123_000_000n);
});

describe('an expiry', () => {
  const lives = (lifetimeMs: number): Expiry => ({ kind: 'in', lifetimeMs, renewal: null });
  const at = (atMs: number): Expiry => ({ kind: 'at', atMs });
  const sent = (expiresAt: string): ExpiryCheck => ({ kind: 'ok', expiresAtMs: Date.parse(expiresAt) });
  const minuteNow = Date.parse('2026-03-01T12:00:00Z');
  const rows: readonly (readonly [
    what: string,
    expiry: Expiry,
    nowMs: number,
    expected: ExpiryCheck | RegExp,
  ])[] = [
    ['a lifetime, cut to the minute', lives(HOUR), NOW, sent('2026-03-01T13:00:00Z')],
    ['the shortest lifetime', lives(MINUTE), NOW, sent('2026-03-01T12:01:00Z')],
    ['the shortest at the end of a minute', lives(MINUTE), minuteNow + 59_999, sent('2026-03-01T12:01:00Z')],
    ['a lifetime under a minute', lives(MINUTE - 1), NOW, /shorter than a minute.*at least "1m"/u],
    ['90 days, a minute less', lives(90 * DAY), NOW, sent('2026-05-30T11:59:00Z')],
    ['90 days on the minute', lives(90 * DAY), minuteNow, sent('2026-05-30T11:59:00Z')],
    ['two minutes less than 90 days', lives(90 * DAY - 2 * MINUTE), NOW, sent('2026-05-30T11:58:00Z')],
    ['over 90 days', lives(90 * DAY + 1), NOW, /longer than the 90 days.*at most "90d"/u],
    ['a moment, cut to the minute', at(NOW + HOUR + 49_499), NOW, sent('2026-03-01T13:00:00Z')],
    ['the next minute', at(minuteNow + MINUTE), NOW, sent('2026-03-01T12:01:00Z')],
    [
      'later in this minute, which is past when cut',
      at(NOW + 49_499),
      NOW,
      /2026-03-01T12:00:59\.999Z is not in the future/u,
    ],
    ['now, on the minute', at(minuteNow), minuteNow, /not in the future/u],
    ['the past', at(NOW - DAY), NOW, /not in the future/u],
    ['exactly 90 days', at(minuteNow + 90 * DAY), minuteNow, sent('2026-05-30T12:00:00Z')],
    ['90 days when cut', at(minuteNow + 90 * DAY + 59_999), minuteNow, sent('2026-05-30T12:00:00Z')],
    ['over 90 days away', at(minuteNow + 90 * DAY + MINUTE), minuteNow, /more than the 90 days away/u],
  ];
  test.each(rows)('%s', (_what, expiry, nowMs, expected) => {
    const check = checkExpiry(expiry, nowMs);
    if (expected instanceof RegExp)
      expect(check.kind === 'out-of-range' && describeObstacle(check.fault)).toMatch(expected);
    else expect(check).toEqual(expected);
  });

  test('of any allowed lifetime is a whole minute in the future, at most a minute early, at most 90 days away', () => {
    const lifetime = fc.oneof(fc.integer({ min: MINUTE, max: 90 * DAY }), fc.constant(90 * DAY));
    fc.assert(
      fc.property(lifetime, fc.integer({ min: 0, max: 4e12 }), (lifetimeMs, nowMs) => {
        const check = checkExpiry(lives(lifetimeMs), nowMs);
        const { expiresAtMs } = check as { expiresAtMs: number };
        expect(check.kind).toBe('ok');
        expect(expiresAtMs % MINUTE).toBe(0);
        expect(expiresAtMs).toBeGreaterThan(nowMs);
        expect(expiresAtMs).toBeLessThanOrEqual(nowMs + lifetimeMs);
        expect(expiresAtMs).toBeGreaterThan(nowMs + lifetimeMs - 2 * MINUTE);
        // A clock a few seconds off, on either side, does not matter to the longest.
        expect(expiresAtMs).toBeLessThanOrEqual(nowMs - 30 * SECOND + 90 * DAY);
      }),
    );
  });

  test('of a removal is a whole minute, one to two minutes away', () => {
    expect(removalExpiry(NOW)).toBe(Date.parse('2026-03-01T12:02:00Z'));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), (nowMs) => {
        const expiresAtMs = removalExpiry(nowMs);
        expect(expiresAtMs % MINUTE).toBe(0);
        expect(expiresAtMs - nowMs).toBeGreaterThan(MINUTE);
        expect(expiresAtMs - nowMs).toBeLessThanOrEqual(2 * MINUTE);
      }),
    );
  });

  test('is renewed by its lead, or not at all', () => {
    const renewing: Expiry = { kind: 'in', lifetimeMs: DAY, renewal: { beforeMs: HOUR } };
    expect(renewalTime(renewing, NOW)).toBe(NOW - HOUR);
    expect(renewalTime(lives(DAY), NOW)).toBeNull();
    expect(renewalTime(at(NOW), NOW)).toBeNull();
    expect(renewalTime(null, NOW)).toBeNull();
  });
});

describe('a retry delay', () => {
  const rows: readonly (readonly [attempt: number, random: number, asked: number, delay: number])[] = [
    [1, 0, 0, 0],
    [1, 0.5, 0, 250],
    [2, 0.5, 0, 500],
    [7, 0.5, 0, 15_000],
    [6, 0.5, 0, 8_000],
    [100, 0.5, 0, 15_000],
    [5_000, 0.5, 0, 15_000],
    [1, 0.5, 7_000, 7_250],
    [1, 0, 7_000, 7_000],
  ];
  test.each(rows)('attempt %d, random %d, asked %d: %d ms', (attempt, random, asked, delay) => {
    expect(retryDelayMs(attempt, random, asked)).toBe(delay);
  });

  test('asks for nothing more where the platform asked for nothing', () => {
    expect(retryDelayMs(1, 0)).toBe(0);
  });

  test('is never below what was asked, nor half a minute above it', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        random,
        fc.nat(10 * HOUR),
        (attempt, jitter, askedMs) => {
          const delayMs = retryDelayMs(attempt, jitter, askedMs);
          expect(delayMs).toBeGreaterThanOrEqual(askedMs);
          expect(delayMs).toBeLessThanOrEqual(askedMs + 30_000);
          expect(retryDelayMs(attempt + 1, jitter, askedMs)).toBeGreaterThanOrEqual(delayMs);
        },
      ),
    );
  });
});

describe('a token bucket', () => {
  test('gives the burst at once, then makes wait for what is missing', () => {
    const bucket = new TokenBucket(10, 5, 0);
    expect([1, 2, 3, 4, 5].map(() => bucket.take(1, 0))).toEqual([0, 0, 0, 0, 0]);
    expect(bucket.take(1, 0)).toBe(100);
    expect(bucket.take(2, 0)).toBe(300);
    expect(bucket.take(1, 300)).toBe(100);
    // A rest fills it, up to the burst.
    expect(bucket.take(5, 3_600_000)).toBe(0);
    expect(bucket.take(1, 3_600_000)).toBe(100);
  });

  test('a large amount is paid for by those who come later', () => {
    const bucket = new TokenBucket(100, 10, 0);
    expect(bucket.take(1_010, 0)).toBe(10_000);
    expect(bucket.take(1, 5_000)).toBeCloseTo(5_010);
  });

  test('a clock that stands still gives nothing; one set back takes nothing away', () => {
    const bucket = new TokenBucket(1, 1, 10_000);
    expect(bucket.take(1, 10_000)).toBe(0);
    expect(bucket.take(1, 10_000)).toBe(1_000);
    expect(bucket.take(1, 10_000)).toBe(2_000);
    expect(bucket.take(1, 0)).toBe(3_000);
    expect(bucket.take(1, 1_000)).toBe(3_000);
  });

  test('never exceeds its rate within an hour, and does not waste it', () => {
    const step = fc.record({
      restMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 60_000 })),
      amount: fc.integer({ min: 1, max: 50 }),
    });
    const steps = fc.array(step, { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 100 }),
        steps,
        (rate, burst, all) => {
          const bucket = new TokenBucket(rate, burst, 0);
          let nowMs = 0;
          const uses: { atMs: number; amount: number }[] = [];
          for (const { restMs, amount } of all) {
            nowMs = Math.min(nowMs + restMs, HOUR);
            const waitMs = bucket.take(amount, nowMs);
            expect(waitMs).toBeGreaterThanOrEqual(0);
            uses.push({ atMs: nowMs + waitMs, amount });
          }
          for (const [i, { atMs: fromMs, amount: first }] of uses.entries()) {
            let used = 0;
            for (const { atMs, amount } of uses.slice(i)) {
              used += amount;
              // The first of a stretch may have been in debt before it.
              expect(used - first).toBeLessThanOrEqual(burst + ((atMs - fromMs) / 1000) * rate + 1e-6);
            }
          }
          let used = 0;
          for (const { atMs, amount } of uses) {
            used += amount;
            expect(used).toBeLessThanOrEqual(burst + (atMs / 1000) * rate + 1e-6);
          }
        },
      ),
    );
  });
});
