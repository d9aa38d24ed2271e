import type { Trigger } from '../../../src/sync/events.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PassSchedule } from '../../../src/sync/daemon/pass-schedule.ts';
import { ManualClock } from '../../manual-clock.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Why the next pass is to be made, and after how long. */
interface Next {
  readonly trigger: Trigger | null;
  readonly afterMs: number;
}

/** A schedule under a clock that stands still but for these. */
interface Scheduled {
  readonly clock: ManualClock;
  readonly schedule: PassSchedule;
  /** Makes a pass that takes so long; by default no time, and without being refused anything. */
  readonly pass: (everyMs: number, how?: { tookMs?: number; isRefused?: boolean }) => Promise<void>;
  /** Lets time go by until the next pass is to be made. */
  readonly next: () => Promise<Next>;
  /** How much jitter it is given from now on, from 0 to 1. */
  readonly jitter: (random: number) => void;
}

function createSchedule(): Scheduled {
  const clock = new ManualClock();
  let random = 0.5;
  const schedule = new PassSchedule(clock, () => random);
  const stopping = new AbortController();
  onTestFinished(() => {
    stopping.abort();
  });
  return {
    clock,
    schedule,
    jitter: (value) => (random = value),
    pass: async (everyMs, { tookMs = 0, isRefused = false } = {}) => {
      schedule.begin();
      await clock.advance(tookMs);
      schedule.end(everyMs, isRefused);
    },
    next: async () => {
      const fromMs = clock.monotonic();
      const made: Next[] = [];
      void schedule
        .next(stopping.signal, () => false)
        .then((trigger) => made.push({ trigger, afterMs: clock.monotonic() - fromMs }));
      await clock.advance(0);
      for (;;) {
        const [next] = made;
        if (next !== undefined) return next;
        const waitMs = clock.nextWakeMs ?? Infinity;
        if (waitMs === Infinity) throw new Error('no pass is to come');
        await clock.advance(waitMs);
      }
    },
  };
}

describe('a rescan', () => {
  test('comes a tenth sooner or later than told, so that many machines do not come at once', async () => {
    const { pass, next, jitter } = createSchedule();
    const afterMs: number[] = [];
    for (const random of [0, 0.5, 1]) {
      jitter(random);
      await pass(100 * SECOND);
      afterMs.push((await next()).afterMs);
    }
    expect(afterMs).toEqual([90 * SECOND, 100 * SECOND, 110 * SECOND]);
  });

  test('is counted from the end of the pass before', async () => {
    const { pass, next } = createSchedule();
    await pass(15 * MINUTE, { tookMs: HOUR });
    expect(await next()).toEqual({ trigger: 'rescan', afterMs: 15 * MINUTE });
  });

  test('that a machine slept over comes when it wakes, and no sooner', async () => {
    const { clock, schedule, pass, next } = createSchedule();
    await pass(15 * MINUTE);
    // The monotonic clock stands still in sleep.
    clock.jumpWallClock(14 * MINUTE);
    schedule.checkWallClock();
    await clock.advance(30 * SECOND);
    clock.jumpWallClock(30 * SECOND);
    schedule.checkWallClock();
    expect(await next()).toEqual({ trigger: 'rescan', afterMs: 0 });
    await pass(15 * MINUTE);
    clock.jumpWallClock(14 * MINUTE);
    schedule.checkWallClock();
    expect(await next()).toEqual({ trigger: 'rescan', afterMs: 15 * MINUTE });
  });

  test('does not wait for a clock that was set back', async () => {
    const { clock, schedule, pass, next } = createSchedule();
    await pass(15 * MINUTE);
    clock.jumpWallClock(-DAY);
    schedule.checkWallClock();
    expect(await next()).toEqual({ trigger: 'rescan', afterMs: 15 * MINUTE });
  });

  test('is not asked for by the wall clock while a pass is under way', async () => {
    const { clock, schedule, pass, next } = createSchedule();
    await pass(15 * MINUTE);
    schedule.begin();
    clock.jumpWallClock(DAY);
    schedule.checkWallClock();
    schedule.end(15 * MINUTE, false);
    expect(await next()).toEqual({ trigger: 'rescan', afterMs: 15 * MINUTE });
  });
});

describe('a pass for lost events', () => {
  test('comes at once after a rest', async () => {
    const { clock, schedule, pass, next } = createSchedule();
    await pass(DAY, { tookMs: 20 * SECOND });
    await clock.advance(20 * SECOND);
    schedule.want('lost');
    expect(await next()).toEqual({ trigger: 'lost', afterMs: 0 });
  });

  test('waits as long as the last pass took, so that passes take half the time at most', async () => {
    const { schedule, pass, next } = createSchedule();
    await pass(DAY, { tookMs: 20 * SECOND });
    schedule.want('lost');
    expect(await next()).toEqual({ trigger: 'lost', afterMs: 20 * SECOND });
  });

  test('waits a minute at most', async () => {
    const { schedule, pass, next } = createSchedule();
    await pass(DAY, { tookMs: HOUR });
    schedule.want('lost');
    expect(await next()).toEqual({ trigger: 'lost', afterMs: MINUTE });
  });

  test('is not waited for by a pass for another reason, which does for both', async () => {
    const { schedule, pass, next } = createSchedule();
    await pass(DAY, { tookMs: 20 * SECOND });
    schedule.want('lost');
    schedule.want('root');
    schedule.want('lost');
    expect(await next()).toEqual({ trigger: 'root', afterMs: 0 });
    await pass(HOUR);
    expect(await next()).toEqual({ trigger: 'rescan', afterMs: HOUR });
  });
});

describe('what the platform refused', () => {
  const REFUSED = { isRefused: true };

  test('is tried again after a minute, then after twice as long, and so on up to a quarter of an hour', async () => {
    const { pass, next } = createSchedule();
    const afterMinutes: number[] = [];
    for (let i = 0; i < 8; i++) {
      await pass(DAY, REFUSED);
      const { trigger, afterMs } = await next();
      expect(trigger).toBe('rescan');
      afterMinutes.push(afterMs / MINUTE);
    }
    expect(afterMinutes).toEqual([1, 2, 4, 8, 15, 15, 15, 15]);
  });

  test('once it was taken is tried again soon when it is refused anew', async () => {
    const { pass, next } = createSchedule();
    for (const isRefused of [true, true, true, false]) {
      await pass(HOUR, { isRefused });
      await next();
    }
    await pass(DAY, REFUSED);
    expect((await next()).afterMs).toBe(MINUTE);
  });

  test('is not tried later for passes that came before its time', async () => {
    const { pass, next } = createSchedule();
    await pass(25 * SECOND, REFUSED);
    const afterMs: number[] = [];
    for (let i = 0; i < 3; i++) {
      afterMs.push((await next()).afterMs);
      await pass(25 * SECOND, REFUSED);
    }
    // The third is the one that tries, as a minute has gone by.
    expect(afterMs).toEqual([25 * SECOND, 25 * SECOND, 10 * SECOND]);
  });

  test('between passes is tried again after a minute, however far the rescan is, and counts as the first time', async () => {
    const { clock, schedule, pass, next } = createSchedule();
    await pass(DAY);
    await clock.advance(HOUR);
    schedule.noteBlocked();
    await clock.advance(10 * SECOND);
    // It is noticed again and again while it lasts.
    schedule.noteBlocked();
    expect(await next()).toEqual({ trigger: 'rescan', afterMs: 50 * SECOND });
    await pass(DAY, REFUSED);
    expect((await next()).afterMs).toBe(2 * MINUTE);
  });
});

test('a pass that began before the next attempt was due, and ends after, does not put it off', async () => {
  const clock = new ManualClock();
  const schedule = new PassSchedule(clock, () => 0.5);
  schedule.begin();
  schedule.end(10_000, true);
  await clock.advance(50_000);
  expect(schedule.mayRetry).toBe(false);
  schedule.begin();
  await clock.advance(20_000);
  schedule.end(10_000, true);
  expect(schedule.mayRetry).toBe(true);
});

test.each<[Trigger, Trigger, Trigger]>([
  ['root', 'approved', 'approved'],
  ['ignore-file', 'approved', 'approved'],
  ['approved', 'root', 'approved'],
  ['lost', 'rescan', 'rescan'],
  ['root', 'lost', 'root'],
])('of two passes that are wanted, %s and %s, the one made is %s', async (first, second, made) => {
  const { schedule, pass, next } = createSchedule();
  await pass(HOUR);
  schedule.want(first);
  schedule.want(second);
  expect(await next()).toEqual({ trigger: made, afterMs: 0 });
});
