import { expect, test } from 'vitest';
import { PassSchedule } from '../../../src/sync/daemon/pass-schedule.ts';
import { ManualClock } from '../../watch/manual-clock.ts';

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
