import { expect, test } from 'vitest';
import { ManualClock } from './manual-clock.ts';

test('sleepers wake in order, and those who fall asleep again within the same advance wake again', async () => {
  const clock = new ManualClock(1000);
  const woken: [string, number][] = [];
  const { signal } = new AbortController();
  const every = async (name: string, ms: number, times: number): Promise<void> => {
    for (let i = 0; i < times; i += 1) {
      await clock.sleep(ms, signal);
      woken.push([name, clock.monotonic()]);
    }
  };
  const all = Promise.all([every('b', 30, 2), every('a', 20, 3)]);
  expect([clock.sleepers, clock.nextWakeMs]).toEqual([2, 20]);
  await clock.advance(59);
  expect(woken).toEqual([
    ['a', 20],
    ['b', 30],
    ['a', 40],
  ]);
  await clock.advance(1);
  await all;
  expect(woken.slice(3)).toEqual([
    ['b', 60],
    ['a', 60],
  ]);
  expect([clock.monotonic(), clock.now(), clock.sleepers]).toEqual([60, 1060, 0]);
});

test('the wall clock jumps by itself', async () => {
  const clock = new ManualClock(1000);
  clock.jumpWallClock(-5000);
  expect([clock.now(), clock.monotonic()]).toEqual([-4000, 0]);
  await clock.advance(10);
  expect([clock.now(), clock.monotonic()]).toEqual([-3990, 10]);
});

test('an abort wakes, and nobody sleeps for no time', async () => {
  const clock = new ManualClock();
  const stop = new AbortController();
  const asleep = clock.sleep(10, stop.signal);
  await clock.sleep(0, new AbortController().signal);
  stop.abort();
  await asleep;
  await clock.sleep(10, stop.signal);
  expect([clock.sleepers, clock.nextWakeMs, clock.monotonic()]).toEqual([0, null, 0]);
});
