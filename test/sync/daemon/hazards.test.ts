import { appendFileSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  createDaemonWorld,
  plant,
  removedKeys,
  requestsFor,
  sentPaths,
  startDaemon,
} from '../daemon-world.ts';
import type { World } from '../world.ts';

const MINUTE = 60_000;

/** No rescan comes to the rescue. */
const WATCHED_ONLY = { watch: { rescan: '24d' } };

const EXPIRE = { removals: { mode: 'expire', delay: '10s' }, ...WATCHED_ONLY };

/** More new files than a pass has in hand at a time: what comes behind them waits. */
const MORE_THAN_IN_HAND = 300;

/** Something fails to be mounted: an empty directory takes the place of the source's. */
function unmount(world: World): void {
  world.move('docs', 'away');
  world.makeDirectory('docs');
}

const halted = (world: World): string | null => world.status().sources[0]?.halted ?? null;

describe('a removal', () => {
  test('during which the file returns is followed by sending it', async () => {
    const { world, running } = await startDaemon(3, EXPIRE);
    const before = requestsFor(world, 'upsert');
    world.emulator.faults.add({ operation: 'upsert', key: 'f1.md', kind: 'hang' });
    world.remove('docs/f1.md');
    await world.until(() => requestsFor(world, 'upsert') > before, 'the removal is under way');
    world.write('docs/f1.md', 'file 1 again');
    // The look at it is to come while the removal is under way.
    await world.wait(5000, 100);
    world.emulator.faults.clear();
    await world.until(() => world.remote('f1.md') === 'file 1 again', 'the file is back');
    await world.wait(20 * MINUTE, 10_000);
    expect(world.remote('f1.md')).toBe('file 1 again');
    expect(world.status().sources[0]).toMatchObject({ files: 3, failed: 0 });
    expect(running.passes).toHaveLength(1);
  });

  test('of a renamed file waits while its new key is on its way', async () => {
    const { world, running } = await startDaemon(3, { ...EXPIRE, upload: { stallTimeout: '1h' } });
    world.emulator.faults.add({ operation: 'upload', key: 'z.md', kind: 'hang' });
    const before = requestsFor(world, 'upload');
    world.move('docs/f1.md', 'docs/z.md');
    await world.until(() => requestsFor(world, 'upload') > before, 'the new key is on its way');
    await world.wait(2 * MINUTE);
    expect(removedKeys(running)).toEqual([]);
    world.emulator.faults.clear();
    await world.until(() => removedKeys(running).length === 1, 'the old key is put away');
    expect(world.remote('z.md')).toBe('file 1');
  });

  test('of a renamed file waits until what a burst of events has hidden is looked at', async () => {
    const { world, running } = await startDaemon(4, { removals: { mode: 'expire', delay: '3s' } });
    const docs = world.at('docs');
    const burst = (events: number): void => {
      for (let i = 0; i < events; i++) appendFileSync(join(docs, i % 2 === 0 ? 'log' : 'other.log'), '.');
    };
    renameSync(join(docs, 'f1.md'), world.at('f1.md'));
    await world.until(() => world.status().sources[0]?.toRemove === 1, 'it is noticed missing');
    burst(5000);
    renameSync(world.at('f1.md'), join(docs, 'z.md'));
    for (let i = 0; i < 30; i++) {
      burst(50);
      await world.wait(200, 100);
    }
    expect(removedKeys(running)).toEqual([]);
    await world.until(() => removedKeys(running).length === 1, 'the old key is put away');
    expect(sentPaths(running)).toContain('z.md');
  });

  test('comes for a file that went while it was sent, also when a pass met it in between', async () => {
    const world = await createDaemonWorld({
      removals: { mode: 'expire', delay: '10s' },
      upload: { concurrency: 2, stallTimeout: '1h' },
    });
    world.write('docs/a.md', 'a');
    world.write('docs/z.md', 'one');
    world.fail('upsert', 400, { key: 'z.md' });
    const first = await world.start();
    await first.stop();
    expect(world.status().sources[0]?.refused).toBe(1);
    plant(world, MORE_THAN_IN_HAND);
    // The pass has read the row of z.md, and stays before it.
    world.emulator.faults.add({ operation: 'upsert', key: 'f0.md', kind: 'hang' });
    const running = world.launch();
    const before = requestsFor(world, 'upsert');
    await world.until(() => requestsFor(world, 'upsert') > before, 'the pass waits');
    world.write('docs/z.md', 'another');
    await world.until(() => sentPaths(running).includes('z.md'), 'a look sends it');
    world.remove('docs/z.md');
    world.emulator.faults.clear();
    await world.until(() => running.passes.length > 0, 'the pass ends');
    await world.until(() => removedKeys(running).includes('z.md'), 'it is put away');
    expect(world.remote('z.md')).not.toBe('another');
  });
});

describe('an approval', () => {
  test('of many removals does not let through a directory that is empty meanwhile', async () => {
    const { world, running } = await startDaemon(20, {
      ...EXPIRE,
      removals: { ...EXPIRE.removals, maxCount: 5 },
    });
    for (let i = 0; i < 6; i++) world.remove(`docs/f${i}.md`);
    await world.until(() => halted(world)?.includes('maxCount') === true, 'the source is halted');
    unmount(world);
    running.daemon.approve('docs');
    await world.until(() => halted(world)?.includes('no files, although') === true, 'it is halted anew');
    await world.wait(2 * MINUTE);
    expect(removedKeys(running)).toEqual([]);
  });

  test('is not given for a missing directory, so that an empty mount point is halted', async () => {
    const { world, running } = await startDaemon(20, EXPIRE);
    world.move('docs', 'away');
    await world.until(() => halted(world) !== null, 'the source is halted');
    expect(running.daemon.approve(null)).toEqual({ approved: [], missing: ['docs'], changed: [] });
    world.makeDirectory('docs');
    await world.until(() => halted(world)?.includes('no files, although') === true, 'it stays halted');
    await world.wait(2 * MINUTE);
    expect(running.events.filter(({ kind }) => kind === 'remove')).toEqual([]);
  });

  test('outlives a reload in the midst of its pass', async () => {
    const { world, running } = await startDaemon(20, {
      ...EXPIRE,
      removals: { ...EXPIRE.removals, maxCount: 5 },
    });
    for (let i = 0; i < 6; i++) world.remove(`docs/f${i}.md`);
    await world.until(() => halted(world) !== null, 'the source is halted');
    world.emulator.faults.add({ operation: 'upsert', kind: 'hang', key: 'big.md' });
    const before = requestsFor(world, 'upsert');
    world.write('docs/big.md', 'x');
    await world.until(() => requestsFor(world, 'upsert') > before, 'a file is on its way');
    expect(running.daemon.approve('docs').approved).toEqual(['docs']);
    await world.until(() => running.daemon.activity.activity === 'pass', 'the approved pass waits for it');
    await running.reload();
    world.emulator.faults.clear();
    await world.until(() => removedKeys(running).length === 6, 'what was approved is removed');
    await world.until(() => halted(world) === null, 'the source is no longer halted');
    await world.until(() => running.passes.length > 1, 'the pass ends');
    expect(running.passes.map(({ trigger }) => trigger)).toEqual(['start', 'reload']);
  });
});

test('a directory that is replaced during a pass is checked before more of it is sent or removed', async () => {
  const { world, running: first } = await startDaemon(20, {
    ...EXPIRE,
    upload: { concurrency: 2, stallTimeout: '1h' },
  });
  await first.stop();
  for (let i = 0; i < MORE_THAN_IN_HAND; i++) world.write(`docs/bulk/b${i}.md`, `new ${i}`);
  world.write('other/f10.md', 'WRONG');
  world.emulator.faults.add({ operation: 'upsert', kind: 'hang' });
  const before = requestsFor(world, 'upsert');
  const running = world.launch();
  await world.until(() => requestsFor(world, 'upsert') > before, 'the pass is under way');
  world.move('docs', 'away');
  world.move('other', 'docs');
  world.emulator.faults.clear();
  await world.until(() => halted(world)?.includes('not the same directory') === true, 'it is halted');
  await world.wait(2 * MINUTE);
  expect(world.remote('f10.md')).toBe('file 10');
  expect(removedKeys(running)).toEqual([]);
  expect(running.passes.map(({ exitCode }) => exitCode)).not.toContain(0);
});

test('a directory that is replaced during a pass is not let in by the end of that pass', async () => {
  const world = await createDaemonWorld({
    removals: { mode: 'expire', delay: '1ms' },
    sources: [
      { directory: './docs', name: 'docs', keyPrefix: 'docs/' },
      { directory: './more', name: 'more', keyPrefix: 'more/' },
    ],
  });
  plant(world, 12);
  for (const name of ['a', 'b', 'c']) world.write(`more/${name}.md`, name);
  const running = await world.start();
  world.emulator.faults.add({ operation: 'upload', key: 'more/new.md', kind: 'hang' });
  world.write('more/new.md', 'new');
  world.write('more/.botsyncignore', '*.tmp\n');
  world.remove('more/a.md');
  await world.until(() => running.daemon.activity.activity === 'pass', 'a pass waits for the upload');
  await world.wait(1000, 100);
  unmount(world);
  await world.wait(5000, 100);
  world.emulator.faults.clear();
  world.emulator.faults.add({ operation: 'upsert', key: 'more/a.md', kind: 'hang' });
  const before = requestsFor(world, 'upsert');
  await world.until(
    () => requestsFor(world, 'upsert') > before,
    'the pass is at the removals of the other source',
  );
  world.write('docs/foreign.md', 'foreign');
  await world.wait(10_000, 100);
  expect([running.daemon.activity.activity, world.remote('docs/foreign.md')]).toEqual(['pass', null]);
  world.emulator.faults.clear();
  await world.until(() => halted(world) !== null, 'the next pass halts it');
  expect(world.remote('docs/foreign.md')).toBeNull();
});

test('what a look could not see while a pass went on keeps removals waiting after it', async () => {
  const { world, running } = await startDaemon(12, {
    removals: { mode: 'expire', delay: '1ms' },
    sources: [
      { directory: './docs', name: 'docs', keyPrefix: 'docs/', symlinks: 'inside' },
      { directory: './more', name: 'more', keyPrefix: 'more/' },
    ],
  });
  world.emulator.faults.add({ operation: 'upload', key: 'more/new.md', kind: 'hang' });
  world.write('more/new.md', 'new');
  world.write('more/.botsyncignore', '*.tmp\n');
  await world.until(() => running.daemon.activity.activity === 'pass', 'a pass waits for the upload');
  await world.wait(1000, 100);
  symlinkSync('../far', world.at('docs/lost'));
  world.remove('docs/f1.md');
  await world.wait(5000, 100);
  world.emulator.faults.clear();
  await world.until(() => running.passes.length > 1, 'the pass ends');
  await world.wait(5 * MINUTE);
  expect(removedKeys(running)).toEqual([]);
});
