import { describe, expect, test } from 'vitest';
import { createDaemonWorld } from '../daemon-world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How many renewals were done. */
const renewals = (events: readonly { kind: string; outcome?: string }[]): number =>
  events.filter(({ kind, outcome }) => kind === 'renew' && outcome === 'done').length;

describe('renewals', () => {
  const rules = (expiresIn: string, more: object = {}) => ({
    rules: [{ match: '**', expiresIn, ...more }],
    watch: { rescan: '24d' },
  });

  test('come when they are due, without a pass, time and again', async () => {
    const world = await createDaemonWorld(rules('2h', { renewBefore: '30m' }));
    world.write('docs/a.md', 'one');
    const { events, passes } = await world.start();
    await world.wait(89 * MINUTE, MINUTE);
    expect(renewals(events)).toBe(0);
    await world.wait(2 * MINUTE);
    await world.until(() => renewals(events) === 1, 'the first renewal');
    await world.wait(92 * MINUTE, MINUTE);
    await world.until(() => renewals(events) === 2, 'the second renewal');
    expect(world.remote('a.md')).toBe('one');
    expect(passes).toHaveLength(1);
  });

  test('hold over more days than a timer of Node does', async () => {
    const world = await createDaemonWorld(rules('90d', { renewBefore: '10d' }));
    world.write('docs/a.md', 'one');
    const { events } = await world.start();
    for (let day = 0; day < 79; day++) {
      world.clock.jumpWallClock(DAY);
      await world.wait(5000);
    }
    expect(renewals(events)).toBe(0);
    world.clock.jumpWallClock(2 * DAY);
    await world.until(() => renewals(events) === 1, 'the renewal');
  });

  test('that were missed while off come first thing, and are no alarm before they could be made', async () => {
    const world = await createDaemonWorld(rules('2h'));
    world.write('docs/a.md', 'one');
    await (await world.start()).stop();
    await world.clock.advance(5 * HOUR);
    const { events, told } = await world.start();
    expect(events).toMatchObject([{ kind: 'renew', outcome: 'done' }]);
    expect(world.remote('a.md')).toBe('one');
    await world.wait(10 * MINUTE, 10_000);
    expect(told).toEqual([]);
  });

  test('that were missed by a machine that slept for a week come when it wakes', async () => {
    const world = await createDaemonWorld(rules('2d'));
    world.write('docs/a.md', 'one');
    const { events, passes } = await world.start();
    // The monotonic clock stands still in sleep.
    world.clock.jumpWallClock(7 * DAY);
    await world.until(() => renewals(events) === 1, 'the renewal');
    expect(passes).toHaveLength(1);
  });

  test('are not made twice when the clock is set back', async () => {
    const world = await createDaemonWorld(rules('2d', { renewBefore: '1d' }));
    world.write('docs/a.md', 'one');
    const { events } = await world.start();
    world.clock.jumpWallClock(DAY);
    await world.wait(HOUR, 10 * MINUTE);
    await world.until(() => renewals(events) === 1, 'the renewal');
    world.clock.jumpWallClock(-3 * DAY);
    await world.wait(HOUR, MINUTE);
    expect(renewals(events)).toBe(1);
    world.clock.jumpWallClock(3 * DAY);
    await world.wait(HOUR, MINUTE);
    expect(renewals(events)).toBe(1);
  });

  test('come in time also while the first pass goes on', async () => {
    const world = await createDaemonWorld({
      rules: [{ match: 'a.md', expiresIn: '1h', renewBefore: '30m' }],
    });
    world.write('docs/a.md', 'one');
    await (await world.start()).stop();
    world.write('docs/z.md', 'hours of upload');
    world.emulator.faults.add({ operation: 'upload', key: 'z.md', kind: 'hang' });
    const { events, passes, told } = world.launch();
    for (const count of [1, 2]) {
      await world.wait(29 * MINUTE, MINUTE);
      // A renewal takes real time, on a busy machine a lot of it: steps of a minute would run away from it.
      await world.until(() => renewals(events) === count, `renewal ${count}`);
    }
    await world.wait(20 * MINUTE, MINUTE);
    expect(passes).toEqual([]);
    expect(renewals(events)).toBe(2);
    expect(world.remote('a.md')).toBe('one');
    expect(told).toEqual([]);
  });

  test.each(['after', 'before'])(
    'come in time though the clock is set back %s the platform was asked anything',
    async (when) => {
      const platform = { now: Date.now };
      const setup = rules('2h', { renewBefore: '30m' });
      const world = await createDaemonWorld(setup, { now: () => platform.now() });
      platform.now = world.clock.now;
      world.write('docs/a.md', 'one');
      let running = await world.start();
      if (when === 'before') {
        await running.stop();
        running = await world.start();
      } else await world.wait(10 * MINUTE, MINUTE);
      world.clock.jumpWallClock(-3 * HOUR);
      platform.now = () => world.clock.now() + 3 * HOUR;
      await world.wait((when === 'before' ? 95 : 85) * MINUTE, MINUTE);
      expect(renewals(running.events)).toBe(1);
      expect(world.remote('a.md')).toBe('one');
    },
  );

  test.each([
    ['while there is time', '2h', '1h', 90, 30_000],
    ['within a minute shortly before the expiry', '4m', '2m', 4, 5000],
  ])('that failed are tried again %s', async (_when, expiresIn, renewBefore, minutes, stepMs) => {
    const world = await createDaemonWorld(rules(expiresIn, { renewBefore }));
    world.write('docs/a.md', 'one');
    const { events, passes } = await world.start();
    world.fail('upsert', 409, { type: 'ResourceLockedConflict', times: 6 });
    await world.wait(minutes * MINUTE, stepMs);
    expect(events.map(({ outcome }) => outcome).slice(0, 3)).toEqual(['done', 'failed', 'done']);
    expect(world.remote('a.md')).toBe('one');
    expect(passes).toHaveLength(1);
  });

  test('follow a rule that changed when to make them', async () => {
    const world = await createDaemonWorld(rules('10d', { renewBefore: '1d' }));
    world.write('docs/a.md', 'one');
    const { events, reload, passes } = await world.start();
    world.configure(rules('10d', { renewBefore: '5d' }));
    await reload();
    await world.until(() => passes.length === 2, 'the pass after the reload');
    world.clock.jumpWallClock(4 * DAY);
    await world.wait(10_000);
    expect(renewals(events)).toBe(0);
    world.clock.jumpWallClock(2 * DAY);
    await world.until(() => renewals(events) === 1, 'the renewal');
  });

  test('that cannot be made are an alarm, over when they are', async () => {
    const world = await createDaemonWorld({ ...rules('2h', { renewBefore: '1h' }), watch: { rescan: '5m' } });
    world.write('docs/a.md', 'one');
    const { events, told } = await world.start();
    world.fail('upsert', 500, { times: 1000 });
    await world.wait(70 * MINUTE, 30_000);
    expect(told).toContain('overdue 1');
    expect(world.status().sources[0]?.expiring).toBe(1);
    world.emulator.faults.clear();
    await world.wait(20 * MINUTE, 30_000);
    expect(events.at(-1)).toMatchObject({ key: 'a.md', outcome: 'done' });
    expect(world.status().sources[0]?.expiring).toBe(0);
  });

  test('are not made of a file that is let expire', async () => {
    const world = await createDaemonWorld(rules('1h', { renew: false }));
    world.write('docs/a.md', 'one');
    const { events } = await world.start();
    await world.wait(3 * HOUR, MINUTE);
    expect(events).toHaveLength(1);
    expect(world.remote('a.md')).toBeNull();
  });
});
