import { describe, expect, test } from 'vitest';
import { createDaemonWorld, plant, removedKeys, startDaemon } from '../daemon-world.ts';
import { refuseUpserts } from '../world.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

describe('a file that gets nothing but 500, and is the only one to send,', () => {
  test('keeps no pass from ending, and no other file from being removed', async () => {
    const { world, running } = await startDaemon(10, {
      watch: { rescan: '15m' },
      removals: { mode: 'expire' },
    });
    refuseUpserts(world, 500, { key: 'bad.md' });
    world.write('docs/bad.md', 'bad');
    await world.until(() => running.daemon.activity.platformOutOfReach, 'it looks like an outage');
    world.remove('docs/f1.md');
    await world.until(() => removedKeys(running).length > 0, 'the other one is removed', 2 * SECOND);
    expect(removedKeys(running)).toEqual(['f1.md']);
    await world.until(() => running.passes.length >= 3, 'passes end', 2 * SECOND);
    world.emulator.faults.clear();
    await world.until(
      () => world.remote('bad.md') === 'bad',
      'it arrives once it can be digested',
      2 * SECOND,
    );
  });

  test('stops no other file, however often it is edited', async () => {
    const world = await createDaemonWorld({ watch: { rescan: '15m' } });
    plant(world, 3);
    await world.start();
    refuseUpserts(world, 500, { key: 'bad.md' });
    for (let edit = 0; edit < 70; edit++) {
      world.write('docs/bad.md', `bad ${edit}`);
      await world.wait(20 * SECOND, 5 * SECOND);
    }
    world.write('docs/a.md', 'a');
    await world.until(() => world.remote('a.md') === 'a', 'another file arrives', 2 * SECOND);
  });
});

test('in a long outage each probe that fails is told of once', async () => {
  const { world, running } = await startDaemon(3, { watch: { rescan: '12h' } });
  refuseUpserts(world, 503);
  for (const name of ['a', 'b']) world.write(`docs/${name}.md`, name);
  await world.wait(3 * MINUTE, 2 * SECOND);
  const told = running.retries.length;
  const failed = running.events.length;
  await world.wait(5 * MINUTE, 2 * SECOND);
  expect(running.retries.length).toBe(told);
  expect(running.events.length).toBeGreaterThan(failed);
});

test('after a long outage all that waited is sent with the first success', async () => {
  const { world, running } = await startDaemon(3, { watch: { rescan: '12h' } });
  refuseUpserts(world, 503);
  for (const name of ['a', 'b', 'c']) world.write(`docs/${name}.md`, name);
  await world.wait(20 * MINUTE, 2 * SECOND);
  expect(running.daemon.activity.outage?.reason).toMatch(/^503/u);
  world.emulator.faults.clear();
  const clearedMs = world.clock.monotonic();
  await world.until(() => world.remote('a.md') === 'a' && world.remote('c.md') === 'c', 'all arrive');
  expect(world.clock.monotonic() - clearedMs).toBeLessThan(40 * SECOND);
  expect(running.daemon.activity.outage).toBeNull();
  // Told once when it began, and once when it was over.
  expect(running.told.filter((line) => line.includes('reach'))).toEqual([
    expect.stringMatching(/^warn the platform is unreachable: 503 .*; botsync retries$/u),
    'inform the platform is reachable again',
  ]);
});
