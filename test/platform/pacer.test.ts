import { describe, expect, test } from 'vitest';
import { Pacer } from '../../src/platform/pacer.ts';
import { NEVER, SimulatedClock, sleepless } from './fixture.ts';

const NO_LIMITS = { maxRequestsPerSecond: null, maxBytesPerSecond: null };

/** Lets workers pass one request after the other; gives the moment of each, in the order they passed. */
async function passes(pacer: Pacer, clock: SimulatedClock, workers: number, each: number): Promise<number[]> {
  const momentsMs: number[] = [];
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (let i = 0; i < each; i += 1) {
        await pacer.turn(NEVER);
        momentsMs.push(clock.monotonic());
      }
    }),
  );
  return momentsMs;
}

/** Most moments within any window of a second. */
function busiestSecond(momentsMs: readonly number[]): number {
  return Math.max(
    ...momentsMs.map((from) => momentsMs.filter((at) => at >= from && at < from + 1000).length),
  );
}

describe('without any limit', () => {
  test('nobody waits', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer(NO_LIMITS, clock);
    await passes(pacer, clock, 8, 100);
    expect(pacer.bytes(1e12, NEVER)).toBeNull();
    expect(clock.slept).toEqual([]);
  });
});

describe('a pause', () => {
  test('holds for all workers, and ends', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer(NO_LIMITS, clock);
    pacer.pause(7000);
    expect(await passes(pacer, clock, 4, 1)).toEqual([7000, 7000, 7000, 7000]);
    expect(await passes(pacer, clock, 1, 1)).toEqual([7000]);
  });

  test('is not shortened by a shorter one, and prolonged by a longer one, also for those who wait', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer(NO_LIMITS, clock);
    pacer.pause(7000);
    const waiting = passes(pacer, clock, 1, 1);
    pacer.pause(1000);
    pacer.pause(9000);
    pacer.pause(1000);
    expect(await waiting).toEqual([9000]);
  });

  test('also holds whoever waited for the rate, or for its place in the rest of a window', async () => {
    const clock = new SimulatedClock();
    const limited = new Pacer({ ...NO_LIMITS, maxRequestsPerSecond: 1 }, clock);
    await limited.turn(NEVER);
    const waiting = passes(limited, clock, 1, 1);
    limited.pause(5000);
    expect(await waiting).toEqual([5000]);

    const later = new SimulatedClock();
    const spaced = new Pacer(NO_LIMITS, later);
    spaced.noteRateLimit({ remaining: 1, resetMs: 1000 });
    const spacing = passes(spaced, later, 1, 1);
    spaced.pause(5000);
    expect((await spacing)[0]).toBeGreaterThanOrEqual(5000);
  });

  test('ends for whoever is aborted', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer(NO_LIMITS, sleepless(clock));
    pacer.pause(7000);
    const abort = new AbortController();
    const waiting = pacer.turn(abort.signal);
    abort.abort();
    await waiting;
    expect(clock.monotonic()).toBe(0);
  });
});

describe('before the limit of the platform is hit', () => {
  test('a long window makes nobody wait for long', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer(NO_LIMITS, clock);
    pacer.noteRateLimit({ remaining: 1, resetMs: 86_400_000 });
    expect(await passes(pacer, clock, 1, 3)).toEqual([10_000, 20_000, 30_000]);
  });

  test('the last requests are spread over the rest of the window', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer(NO_LIMITS, clock);
    pacer.noteRateLimit({ remaining: 20, resetMs: 1000 });
    const momentsMs = await passes(pacer, clock, 8, 3);
    expect(momentsMs.filter((at) => at < 1000).length).toBeLessThanOrEqual(20);
    expect(momentsMs.filter((at) => at < 500).length).toBeLessThanOrEqual(10);
    expect(momentsMs.filter((at) => at < 1000).length).toBeGreaterThanOrEqual(16);
    // The window is over, and no answer tells of the next: the rest goes one by one.
    expect(momentsMs.at(-1)).toBeLessThan(3000);
  });

  test('a used-up window is waited for', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer(NO_LIMITS, clock);
    pacer.noteRateLimit({ remaining: 0, resetMs: 3000 });
    expect(await passes(pacer, clock, 2, 1)).toEqual([3000, 3000]);
  });

  test.each([32, 100])('with %d left nobody waits', async (remaining) => {
    const clock = new SimulatedClock();
    const pacer = new Pacer(NO_LIMITS, clock);
    pacer.noteRateLimit({ remaining, resetMs: 1000 });
    await passes(pacer, clock, 8, 5);
    expect(clock.slept).toEqual([]);
  });

  test('with 31 left the pace goes down', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer(NO_LIMITS, clock);
    pacer.noteRateLimit({ remaining: 31, resetMs: 31_000 });
    expect(await passes(pacer, clock, 1, 3)).toEqual([1000, 2000, 3000]);
  });

  test('time that was not used is no reason to hurry', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer(NO_LIMITS, clock);
    pacer.noteRateLimit({ remaining: 20, resetMs: 20_000 });
    await pacer.turn(NEVER);
    clock.advance(10_000);
    expect(await passes(pacer, clock, 1, 3)).toEqual([12_000, 13_000, 14_000]);
  });

  test('the pace goes up again as soon as there is room', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer(NO_LIMITS, clock);
    pacer.noteRateLimit({ remaining: 2, resetMs: 60_000 });
    pacer.noteRateLimit({ remaining: 90, resetMs: 60_000 });
    expect(await passes(pacer, clock, 2, 5)).toEqual(Array.from({ length: 10 }, () => 0));
  });
});

describe('maxRequestsPerSecond', () => {
  test.each([1, 5, 100])('%d holds in every second, and is made use of', async (rate) => {
    const clock = new SimulatedClock();
    const pacer = new Pacer({ ...NO_LIMITS, maxRequestsPerSecond: rate }, clock);
    const momentsMs = await passes(pacer, clock, 8, 50);
    // One more than the rate: a second that begins with a request also ends with one.
    expect(busiestSecond(momentsMs)).toBeLessThanOrEqual(rate + 1);
    expect(momentsMs.at(-1)).toBeCloseTo((399 / rate) * 1000, 3);
  });

  test('a rest saves up no burst', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer({ ...NO_LIMITS, maxRequestsPerSecond: 2 }, clock);
    clock.advance(3_600_000);
    const momentsMs = await passes(pacer, clock, 4, 2);
    expect(busiestSecond(momentsMs)).toBeLessThanOrEqual(3);
  });

  test('an aborted turn does not wait', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer({ ...NO_LIMITS, maxRequestsPerSecond: 1 }, sleepless(clock));
    await pacer.turn(NEVER);
    const abort = new AbortController();
    const waiting = pacer.turn(abort.signal);
    abort.abort();
    await waiting;
    expect(clock.monotonic()).toBe(0);
  });
});

describe('maxBytesPerSecond', () => {
  test.each([
    ['many small files', 1000, 10_000],
    ['a large file in pieces', 262_144, 100],
    ['pieces larger than a second allows', 5_000_000, 4],
  ])('%s go at that rate', async (_, pieceBytes, pieces) => {
    const rate = 1_000_000;
    const clock = new SimulatedClock();
    const pacer = new Pacer({ ...NO_LIMITS, maxBytesPerSecond: rate }, clock);
    for (let i = 0; i < pieces; i += 1) await pacer.bytes(pieceBytes, NEVER);
    const expectedMs = (pieceBytes * pieces) / (rate / 1000) - 250;
    expect(clock.monotonic()).toBeCloseTo(expectedMs, 3);
  });

  test('is shared by all workers', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer({ ...NO_LIMITS, maxBytesPerSecond: 1000 }, clock);
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        await pacer.bytes(1000, NEVER);
      }),
    );
    expect(clock.monotonic()).toBeCloseTo(7750, 3);
  });

  test('what fits is not waited for', () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer({ ...NO_LIMITS, maxBytesPerSecond: 1000 }, clock);
    expect(pacer.bytes(250, NEVER)).toBeNull();
    expect(pacer.bytes(1, NEVER)).not.toBeNull();
  });

  test('does not hold requests back', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer({ ...NO_LIMITS, maxBytesPerSecond: 1 }, clock);
    void pacer.bytes(1_000_000, NEVER);
    clock.slept.length = 0;
    await pacer.turn(NEVER);
    expect(clock.slept).toEqual([]);
  });
});

test('near a rate limit nobody waits much beyond the end of its window: one asks how the next one is, the others follow', async () => {
  const clock = new SimulatedClock();
  const pacer = new Pacer(NO_LIMITS, clock);
  pacer.noteRateLimit({ remaining: 1, resetMs: 60_000 });
  const momentsMs: number[] = [];
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      await pacer.turn(NEVER);
      momentsMs.push(clock.monotonic());
      if (clock.monotonic() === 60_000) pacer.noteRateLimit({ remaining: 1000, resetMs: 60_000 });
    }),
  );
  const inWindow = momentsMs.filter((at) => at < 60_000);
  expect(inWindow).toEqual([10_000, 20_000, 30_000, 40_000, 50_000]);
  expect(momentsMs.at(-1)).toBeLessThanOrEqual(61_000);
});

test('after a window one asks how the next one is; where no answer tells, all go on at full speed', async () => {
  const clock = new SimulatedClock();
  const pacer = new Pacer(NO_LIMITS, clock);
  pacer.noteRateLimit({ remaining: 4, resetMs: 500 });
  const momentsMs = await passes(pacer, clock, 8, 20);
  expect(momentsMs.at(-1)).toBeLessThanOrEqual(1000);
});
