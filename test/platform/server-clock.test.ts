import { describe, expect, test } from 'vitest';
import { ServerClock } from '../../src/platform/server-clock.ts';
import { SimulatedClock, START } from './fixture.ts';

const DAY_MS = 86_400_000;

describe("the platform's time", () => {
  test.each<[string, (string | string[] | undefined)[], number]>([
    ['is ours until told otherwise', [], 0],
    ['a day ahead of ours', [new Date(START + DAY_MS).toUTCString()], DAY_MS],
    ['a day behind ours', [new Date(START - DAY_MS).toUTCString()], -DAY_MS],
    ['the same but for noise ahead', [new Date(START + 2000).toUTCString()], 0],
    ['the same but for noise behind', [new Date(START - 2000).toUTCString()], 0],
    ['three seconds ahead', [new Date(START + 3000).toUTCString()], 3000],
    ['three seconds behind', [new Date(START - 3000).toUTCString()], -3000],
    [
      'forgets a difference that is gone',
      [new Date(START + DAY_MS).toUTCString(), new Date(START).toUTCString()],
      0,
    ],
    [
      'keeps a difference when an answer has no date',
      [new Date(START + DAY_MS).toUTCString(), undefined],
      DAY_MS,
    ],
    ['keeps a difference when a date is garbage', [new Date(START + DAY_MS).toUTCString(), 'noon'], DAY_MS],
    ['ten years ahead and more are nonsense', ['Fri, 01 Jan 2100 00:00:00 GMT'], 0],
    ['and so is the beginning of time', ['Thu, 01 Jan 1970 00:00:00 GMT'], 0],
    ['two dates say nothing', [['Mon, 01 Jan 2001 00:00:00 GMT', 'Mon, 01 Jan 2001 00:00:00 GMT']], 0],
  ])('%s', (_, dates, offsetMs) => {
    const clock = new SimulatedClock();
    const serverClock = new ServerClock(clock);
    for (const date of dates) serverClock.noteDate(date);
    // The header counts whole seconds: the middle of its second is the best guess. START is the middle of one.
    expect(serverClock.now() - START).toBe(offsetMs);
    clock.advance(60_000);
    expect(serverClock.now() - START).toBe(offsetMs + 60_000);
  });
});

describe("when our clock is set, the platform's time", () => {
  const HOUR_MS = 3_600_000;
  test.each([
    ['back by an hour: goes on', -HOUR_MS, 0],
    ['back by a second: is not told from noise, and follows', -1000, -1000],
    ['ahead by an hour, as by sleep: follows', HOUR_MS, HOUR_MS],
  ])('%s', (_, jumpMs, offMs) => {
    for (const toldMs of [0, DAY_MS]) {
      const clock = new SimulatedClock();
      const serverClock = new ServerClock(clock);
      serverClock.noteDate(new Date(START + toldMs).toUTCString());
      clock.wallOffsetMs = jumpMs;
      clock.advance(60_000);
      expect(serverClock.now() - START).toBe(toldMs + 60_000 + offMs);
      serverClock.noteDate(new Date(START + 60_000).toUTCString());
      expect(Math.abs(serverClock.now() - START - 60_000)).toBeLessThanOrEqual(2000);
    }
  });

  test('is what ours is before an answer told it: a clock that was wrong at first may be right now', () => {
    const clock = new SimulatedClock();
    clock.wallOffsetMs = DAY_MS;
    const serverClock = new ServerClock(clock);
    clock.wallOffsetMs = 0;
    expect(serverClock.now()).toBe(START);
  });
});
