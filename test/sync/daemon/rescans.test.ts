import { describe, expect, test } from 'vitest';
import { toldOf } from '../../files/told-of.ts';
import { createDaemonWorld, requestsFor, sentPaths } from '../daemon-world.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Every failure is final until a pass tries again. */
const ONE_ATTEMPT = { upload: { attempts: 1 } };

const FAILURE = { operation: 'upload', key: 'a.md', kind: 'status', status: 403, times: 1 } as const;

describe('a rescan', () => {
  test('that a machine slept over comes within seconds when it wakes', async () => {
    const world = await createDaemonWorld({ watch: { rescan: '20h' } });
    const { passes } = await world.start();
    await world.wait(MINUTE, 10 * SECOND);
    const fromMs = world.clock.monotonic();
    // The monotonic clock stands still in sleep.
    world.clock.jumpWallClock(24 * HOUR);
    await world.until(() => passes.length === 2, 'the rescan that was slept over');
    expect(passes[1]?.trigger).toBe('rescan');
    expect(world.clock.monotonic() - fromMs).toBeLessThan(HOUR);
    await world.wait(10 * MINUTE, 10 * SECOND);
    expect(passes).toHaveLength(2);
  });

  test('does not count as found what an event told of that has not settled yet', async () => {
    const world = await createDaemonWorld({ watch: { settle: '10m', maxDelay: '1h' } });
    const { told, passes } = await world.start();
    await world.clock.advance(14 * MINUTE);
    await toldOf(world.at('docs'), 'b.md', () => {
      world.write('docs/b.md', 'two');
    });
    await world.wait(2 * MINUTE);
    await world.until(() => passes.length === 2, 'the rescan ends');
    // It came first all the same.
    expect(passes[1]?.summary.uploaded).toBe(1);
    expect(world.remote('b.md')).toBe('two');
    expect(told).toEqual([]);
  });

  test('that its jitter brings a little early tries failed files again', async () => {
    const world = await createDaemonWorld(ONE_ATTEMPT, {}, 0, 0);
    world.write('docs/a.md', 'one');
    world.emulator.faults.add(FAILURE);
    const running = await world.start();
    expect(running.passes[0]?.summary.failed).toBe(1);
    await world.clock.advance(13 * MINUTE);
    expect(running.passes).toHaveLength(1);
    await world.wait(MINUTE);
    await world.until(() => running.passes.length === 2, 'the rescan ends');
    expect(sentPaths(running)).toEqual(['a.md']);
  });
});

test('where nothing is watched a failed file is tried again as often as rescans would come, not at every look', async () => {
  const world = await createDaemonWorld({ ...ONE_ATTEMPT, watch: { poll: true, pollInterval: '10s' } });
  world.write('docs/a.md', 'one');
  world.emulator.faults.add(FAILURE);
  const running = await world.start();
  const tries = requestsFor(world, 'upload');
  await world.wait(10 * MINUTE, 5 * SECOND);
  expect(running.passes.length).toBeGreaterThan(30);
  expect(requestsFor(world, 'upload')).toBe(tries);
  expect(running.passes.at(-1)?.summary).toMatchObject({ failed: 1, uploaded: 0 });
  await world.wait(6 * MINUTE, 5 * SECOND);
  await world.until(() => sentPaths(running).length === 1, 'it is tried again');
});

test('what the platform refused is asked for at once when someone approves, and not only when it is its time', async () => {
  const world = await createDaemonWorld({
    watch: { rescan: '24d' },
    removals: { mode: 'expire', delay: '10s', maxCount: 2 },
  });
  for (const name of ['p.md', 'q.md', 'r.md', 's.md']) world.write(`docs/${name}`, name);
  const running = await world.start();
  for (const name of ['p.md', 'q.md', 'r.md']) world.remove(`docs/${name}`);
  await world.until(() => running.daemon.impediments.length > 0, 'the source is halted');
  world.fail('upsert', 401);
  world.write('docs/a.md', 'one');
  await world.until(() => running.daemon.activity.blocked !== null, 'it is refused');
  // It is to be tried again in a minute.
  await world.wait(5 * SECOND);
  expect(sentPaths(running)).not.toContain('a.md');
  running.daemon.approve(null);
  await world.until(() => running.passes.length === 2, 'the approved pass ends');
  expect(running.passes[1]?.trigger).toBe('approved');
  expect(sentPaths(running)).toContain('a.md');
  expect(running.daemon.activity.blocked).toBeNull();
});
