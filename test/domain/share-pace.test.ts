import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RequestWish } from '../../src/domain/request-wish.ts';
import { rateAt, type HeldShare } from '../../src/domain/share.ts';
import { SharePace } from '../../src/domain/share-pace.ts';
import { SEED } from '../seed.ts';

function steady(perSecond: number): HeldShare {
  return { perSecond, untilMs: Infinity, floorPerSecond: 0 };
}

/** Releases as soon as it may from one moment to another, each so much later than it could be. */
function releases(pace: SharePace, fromMs: number, toMs: number, latenessMs: () => number): number[] {
  const releasedMs: number[] = [];
  for (let nowMs = fromMs; ;) {
    const atMs = pace.nextAtMs(nowMs);
    nowMs = atMs <= nowMs ? nowMs : atMs + latenessMs();
    if (nowMs >= toMs) return releasedMs;
    if (pace.nextAtMs(nowMs) > nowMs) continue;
    pace.released(nowMs);
    releasedMs.push(nowMs);
  }
}

describe('the pace of a share', () => {
  test.each([0.5, 4.5, 22.5, 90])('%d a second is made use of, with timers that are late', (perSecond) => {
    const pace = new SharePace(steady(perSecond), 0);
    const count = releases(pace, 0, 100_000, () => 1.5).length;
    expect(count).toBeGreaterThan(perSecond * 99 - 1);
    expect(count).toBeLessThanOrEqual(perSecond * 100 + 1);
  });

  test('nothing is released without a share, and the first request a whole interval after it was given', () => {
    const pace = new SharePace(steady(0), 0);
    expect(pace.nextAtMs(5000)).toBe(Infinity);
    pace.setShare(steady(10), 6000);
    expect(pace.nextAtMs(6000)).toBeCloseTo(6100, 6);
  });

  test('a rest saves up no burst', () => {
    const pace = new SharePace(steady(10), 0);
    expect(pace.nextAtMs(3_600_000)).toBe(3_600_000);
    pace.released(3_600_000);
    expect(pace.nextAtMs(3_600_000)).toBeGreaterThan(3_600_079);
  });

  test('a share that ends is the floor from that moment, whoever looks when', () => {
    const share = { perSecond: 10, untilMs: 1000, floorPerSecond: 1 };
    const pace = new SharePace(share, 0);
    expect(releases(pace, 0, 3500, () => 0).map(Math.round)).toEqual([
      ...[100, 200, 300, 400, 500, 600, 700, 800, 900, 1000],
      ...[2000, 3000],
    ]);
    const waiting = new SharePace(share, 950);
    expect(waiting.nextAtMs(950)).toBeCloseTo(1500, 6);
    const asleep = new SharePace({ perSecond: 10, untilMs: 50, floorPerSecond: 1 }, 0);
    expect(asleep.nextAtMs(100)).toBeCloseTo(550, 6);
  });

  const change = fc.record({
    afterMs: fc.nat({ max: 1500 }),
    perSecond: fc.constantFrom(0, 0.3, 4.5, 22.5, 81, 90),
    goodForMs: fc.constantFrom(200, 1000, Infinity),
    floorPerSecond: fc.constantFrom(0, 0.5, 4.5, 18),
  });
  const lateness = fc.array(fc.constantFrom(0, 0.5, 2, 15, 40), { minLength: 1, maxLength: 10 });

  test('in any second no more is released than the shares of that second, whatever changes', () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 12 }), lateness, (changes, latenesses) => {
        let late = 0;
        const next = (): number => latenesses[late++ % latenesses.length] ?? 0;
        let nowMs = 0;
        const pace = new SharePace(steady(0), 0);
        const shares: { fromMs: number; share: HeldShare }[] = [];
        const all: number[] = [];
        for (const { afterMs, perSecond, goodForMs, floorPerSecond } of changes) {
          const share = { perSecond, untilMs: nowMs + goodForMs, floorPerSecond };
          shares.push({ fromMs: nowMs, share });
          pace.setShare(share, nowMs);
          all.push(...releases(pace, nowMs, nowMs + afterMs, next));
          nowMs += afterMs;
        }
        const rate = (ms: number): number => {
          const current = shares.findLast(({ fromMs }) => fromMs <= ms);
          return current === undefined ? 0 : rateAt(current.share, ms);
        };
        // What the shares sum up to by each millisecond, each of which may have a change in it.
        const sums = [0];
        for (let ms = 0; ms < nowMs + 1001; ms += 1)
          sums.push((sums.at(-1) ?? NaN) + Math.max(rate(ms), rate(ms + 1)) / 1000);
        for (const [n, fromMs] of all.entries()) {
          const count = all.slice(n).filter((ms) => ms < fromMs + 1000).length;
          const from = Math.floor(fromMs);
          const sum = (sums[from + 1001] ?? NaN) - (sums[from] ?? NaN);
          // One that begins the second, and 20 ms of the highest rate to make up for late timers.
          expect(count).toBeLessThanOrEqual(sum + 1 + 90 * 0.02);
        }
      }),
      { seed: SEED, numRuns: 100 },
    );
  });
});

describe('how many requests are wanted', () => {
  test('are none of who sends none', () => {
    expect(new RequestWish().perSecond(0, null, 0)).toBe(0);
  });

  test('are a little more than were sent, over a second or five, whichever was busier, and those that wait', () => {
    const wish = new RequestWish();
    for (let ms = 0; ms < 5000; ms += 100) wish.released(ms);
    expect(wish.perSecond(0, null, 5000)).toBe(12.25);
    for (let ms = 4500; ms < 5000; ms += 50) wish.released(ms);
    expect(wish.perSecond(3, 4900, 5000)).toBe(19 * 1.25 + 3);
    expect(wish.perSecond(0, null, 8000)).toBeLessThan(12.25);
    expect(wish.perSecond(0, null, 60_000)).toBe(0);
  });

  test('are without bound of who has always waited for a second', () => {
    expect(new RequestWish().perSecond(1, 0, 1000)).toBe(Infinity);
    expect(new RequestWish().perSecond(1, 1, 1000)).toBe(1);
  });
});
