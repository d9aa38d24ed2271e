import { expect, test } from 'vitest';
import { createDaemonWorld, requestsFor, sentPaths, startDaemon } from '../daemon-world.ts';
import { refuseUpserts } from '../world.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

test.each([1, 3])(
  'files edited during a minute of darkness go out by themselves when it is over: %i',
  async (count) => {
    const { world, running } = await startDaemon(count, { watch: { rescan: '10h' } });
    refuseUpserts(world, 503);
    plantAgain(count);
    await world.until(() => running.daemon.activity.platformOutOfReach, 'the outage is noticed at once');
    await world.wait(MINUTE, 500);
    // What was under way when it began, and probes after 1, 2, 4, 5 … s, or down to half of that.
    expect(requestsFor(world, 'upsert')).toBeLessThanOrEqual(count + count + 26);
    expect(running.events.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    const { outage } = running.daemon.activity;
    expect(Date.parse(outage?.nextTry ?? '') - world.clock.now()).toBeLessThanOrEqual(5 * SECOND);
    expect(world.clock.now() - Date.parse(outage?.since ?? '')).toBeGreaterThan(50 * SECOND);
    world.emulator.faults.clear();
    const leftMs = Date.parse(outage?.nextTry ?? '') - world.clock.now();
    await world.wait(leftMs, 500);
    const fromMs = world.clock.monotonic();
    await world.until(() => sentPaths(running).length === 2 * count, 'they arrive');
    expect(world.clock.monotonic() - fromMs).toBeLessThanOrEqual(2 * SECOND);
    expect(running.daemon.activity).toMatchObject({ platformOutOfReach: false, outage: null });
    expect(running.passes).toHaveLength(1);

    function plantAgain(files: number): void {
      for (let i = 0; i < files; i++) world.write(`docs/f${i}.md`, `edited ${i}`);
    }
  },
);

test('what was edited in an outage of two minutes arrives within seconds of its end', async () => {
  const world = await createDaemonWorld({ watch: { rescan: '10h' } });
  await world.start();
  refuseUpserts(world, 503);
  world.write('docs/early.md', 'early');
  await world.wait(MINUTE, 500);
  world.write('docs/late.md', 'late');
  await world.wait(MINUTE, 500);
  const probes = requestsFor(world, 'upsert');
  await world.until(() => requestsFor(world, 'upsert') > probes, 'a probe was just made');
  world.emulator.faults.clear();
  const fromMs = world.clock.monotonic();
  await world.until(() => world.keys().length === 2, 'both arrive');
  expect(world.clock.monotonic() - fromMs).toBeLessThanOrEqual(6 * SECOND);
});

test('a fresh edit during a long outage is tried at once, and brings the others along', async () => {
  const world = await createDaemonWorld({ watch: { rescan: '10h' } });
  const running = await world.start();
  refuseUpserts(world, 503);
  world.write('docs/a.md', 'a');
  await world.until(() => running.daemon.activity.platformOutOfReach, 'the outage is noticed');
  await world.wait(2 * MINUTE, 500);
  const nextTry = (): string => running.daemon.activity.outage?.nextTry ?? '';
  const before = nextTry();
  await world.until(() => nextTry() !== before && nextTry() !== '', 'a probe was just made');
  await world.wait(2 * SECOND, 500);
  world.emulator.faults.clear();
  world.write('docs/b.md', 'b');
  const fromMs = world.clock.monotonic();
  await world.until(() => world.keys().length === 2, 'both arrive');
  expect(world.clock.monotonic() - fromMs).toBeLessThanOrEqual(5 * SECOND);
});

test('in a long outage all that is new or edited counts as not in sync', async () => {
  const world = await createDaemonWorld({ watch: { rescan: '10h' } });
  world.write('docs/a.md', 'a');
  const running = await world.start();
  refuseUpserts(world, 503);
  world.write('docs/b.md', 'b');
  await world.until(() => running.daemon.activity.platformOutOfReach, 'the outage is noticed');
  await world.wait(2 * MINUTE, 500);
  for (const name of ['c', 'd', 'e']) world.write(`docs/${name}.md`, name);
  world.write('docs/a.md', 'edited');
  const waiting = (): number => {
    const [docs] = world.status().sources;
    return (docs?.failed ?? 0) + (docs?.pending ?? 0) + (docs?.sending ?? 0);
  };
  // The kernel tells of them in its own time.
  await world.until(() => waiting() === 5, 'all of them are seen');
  const { sources, sinceLastPass } = world.status();
  const [docs] = sources;
  expect(docs?.files).toBe(0);
  expect(sinceLastPass?.updated).toBe(0);
  world.emulator.faults.clear();
  await world.until(() => world.keys().length === 5, 'all arrive');
  await world.until(() => (world.status().sources[0]?.pending ?? 1) === 0, 'nothing waits any more');
});
