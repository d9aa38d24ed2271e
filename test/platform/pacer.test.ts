import { describe, expect, test } from 'vitest';
import { Pacer, type CountedAnswer } from '../../src/platform/pacer.ts';
import { NEVER, SimulatedClock, sleepless } from './fixture.ts';

const NO_LIMITS = { maxRequestsPerSecond: null, maxBytesPerSecond: null, longestPauseMs: Infinity };

/** Lets workers pass one request after the other; gives the moment of each, in the order they passed. */
async function passes(pacer: Pacer, clock: SimulatedClock, workers: number, each: number): Promise<number[]> {
  const momentsMs: number[] = [];
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (let i = 0; i < each; i += 1) {
        await pacer.turn('store', NEVER);
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

  test('also holds those who waited for the rate', async () => {
    const clock = new SimulatedClock();
    const limited = new Pacer({ ...NO_LIMITS, maxRequestsPerSecond: 1 }, clock);
    await limited.turn('store', NEVER);
    const waiting = passes(limited, clock, 1, 1);
    limited.pause(5000);
    expect(await waiting).toEqual([5000]);
  });

  test('ends for a request that is aborted', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer(NO_LIMITS, sleepless(clock));
    pacer.pause(7000);
    const abort = new AbortController();
    const waiting = pacer.turn('store', abort.signal);
    abort.abort();
    await waiting;
    expect(clock.monotonic()).toBe(0);
  });
});

describe('the rate of the platform', () => {
  const answered = (releasedAtMs: number, remaining: number, resetMs: number) => ({
    releasedAtMs,
    wasLimited: false,
    report: { limit: 100, remaining, resetMs, windowMs: null },
  });

  test('holds for requests to the platform, and not for uploads to the store', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer(NO_LIMITS, clock);
    const first = await pacer.turn('platform', NEVER);
    pacer.noteAnswer(answered(first ?? NaN, 10, 10_000));
    expect(await pacer.turn('platform', NEVER)).toBe(1000);
    expect(pacer.turn('store', NEVER)).toBe(1000);
    expect(pacer.turn('store', NEVER)).toBe(1000);
    expect(await pacer.turn('platform', NEVER)).toBe(2000);
  });

  test('lets those who wait pass in the order they came', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer(NO_LIMITS, clock);
    const order: string[] = [];
    await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (name) => {
        await pacer.turn('platform', NEVER);
        order.push(name);
      }),
    );
    expect(order).toEqual(['a', 'b', 'c', 'd']);
  });

  test('that rises lets those pass at once who wait', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer(NO_LIMITS, sleepless(clock));
    const first = await pacer.turn('platform', NEVER);
    pacer.noteAnswer(answered(first ?? NaN, 1, 60_000));
    const waiting = pacer.turn('platform', NEVER);
    pacer.noteAnswer(answered(first ?? NaN, 99, 60_000));
    expect(await waiting).toBe(0);
  });

  test('a limit that is used up holds everybody', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer(NO_LIMITS, clock);
    pacer.noteAnswer(answered(0, 0, 3000));
    expect(pacer.pausedForMs).toBe(3000);
    expect(await passes(pacer, clock, 2, 1)).toEqual([3000, 3000]);
  });

  test("an abort takes nobody else's turn", async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer(NO_LIMITS, clock);
    await pacer.turn('platform', NEVER);
    const abort = new AbortController();
    const given = pacer.turn('platform', abort.signal);
    const waiting = pacer.turn('platform', NEVER);
    abort.abort();
    await given;
    expect(await waiting).toBe(50);
  });
});

describe('nobody waits', () => {
  test('for a pause that is too long, also if it begins while they wait', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer({ ...NO_LIMITS, longestPauseMs: 5000 }, sleepless(clock));
    await pacer.turn('platform', NEVER);
    const first = pacer.turn('platform', NEVER);
    const second = pacer.turn('platform', NEVER);
    pacer.pause(5001);
    expect([await first, await second]).toEqual([null, null]);
    expect(pacer.turn('store', NEVER)).toBeNull();
    clock.advance(5001);
    expect(pacer.turn('store', NEVER)).toBe(5001);
  });

  test('once waits are ended; what need not wait passes', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer(NO_LIMITS, sleepless(clock));
    await pacer.turn('platform', NEVER);
    const waiting = pacer.turn('platform', NEVER);
    pacer.endWaits();
    expect(await waiting).toBeNull();
    expect(pacer.turn('platform', NEVER)).toBeNull();
    expect(pacer.turn('store', NEVER)).toBe(0);
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
    await pacer.turn('store', NEVER);
    const abort = new AbortController();
    const waiting = pacer.turn('store', abort.signal);
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

  test('holds in its hours only, by the local time of the server, also across midnight and with other limits', async () => {
    const clock = new SimulatedClock();
    const at = (hours: number, minutes = 0): number => new Date(2026, 0, 15, hours, minutes).getTime();
    const rates = [
      { fromMinute: 8 * 60, untilMinute: 18 * 60, bytesPerSecond: 1000 },
      { fromMinute: 22 * 60, untilMinute: 6 * 60, bytesPerSecond: 4000 },
    ];
    const pacer = new Pacer({ ...NO_LIMITS, maxBytesPerSecond: rates }, clock);
    /** How long 10,000 bytes take at a time of the day, milliseconds. */
    const tookAt = async (time: number): Promise<number> => {
      clock.wallOffsetMs += time - clock.now();
      const beganMs = clock.monotonic();
      await pacer.bytes(10_000, NEVER);
      return Math.round(clock.monotonic() - beganMs);
    };
    expect(await tookAt(at(7, 59))).toBe(0);
    expect(await tookAt(at(8))).toBe(9750);
    expect(await tookAt(at(17, 59))).toBe(10_000);
    expect(await tookAt(at(18))).toBe(0);
    expect(await tookAt(at(22))).toBe(2250);
    expect(await tookAt(at(0))).toBe(2500);
    expect(await tookAt(at(5, 59))).toBe(2500);
    expect(await tookAt(at(6))).toBe(0);
  });

  test('does not hold requests back', async () => {
    const clock = new SimulatedClock();
    const pacer = new Pacer({ ...NO_LIMITS, maxBytesPerSecond: 1 }, clock);
    void pacer.bytes(1_000_000, NEVER);
    clock.slept.length = 0;
    await pacer.turn('store', NEVER);
    expect(clock.slept).toEqual([]);
  });
});

test('every answer of the platform is counted, with what is known of its limit by then', () => {
  const clock = new SimulatedClock();
  const counted: CountedAnswer[] = [];
  const pacer = new Pacer(NO_LIMITS, clock, (answer) => counted.push(answer));
  const report = { limit: 100, remaining: 99, resetMs: null, windowMs: 1000 };
  pacer.noteAnswer({ releasedAtMs: 0, wasLimited: false, report: null });
  pacer.noteAnswer({ releasedAtMs: 0, wasLimited: false, report });
  pacer.noteAnswer({ releasedAtMs: 0, wasLimited: true, report: { ...report, limit: 10, remaining: 0 } });
  expect(counted).toEqual([
    { wasLimited: false, limitPerMinute: null },
    { wasLimited: false, limitPerMinute: 6000 },
    { wasLimited: true, limitPerMinute: 600 },
  ]);
});
