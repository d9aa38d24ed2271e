import { rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createDaemonWorld, sentPaths } from '../daemon-world.ts';

/** No rescan comes to the rescue. */
const WATCHED_ONLY = { watch: { rescan: '24d' } };

test('more events at once than the system keeps bring a pass, which finds what they did not tell of', async () => {
  const world = await createDaemonWorld(WATCHED_ONLY);
  world.write('docs/a.md', 'one');
  const running = await world.start();
  world.write('docs/a.md', 'edited');
  const file = world.at('docs/burst');
  for (let i = 0; i < 3000; i += 1) {
    writeFileSync(file, '');
    rmSync(file);
  }
  await world.until(() => running.told.length > 0, 'the burst is told of');
  expect(running.told).toEqual([expect.stringMatching(/^lost docs /u)]);
  await world.until(() => running.passes.length === 2, 'everything is looked at');
  expect(running.passes[1]).toMatchObject({ trigger: 'lost', summary: { uploaded: 1 } });
  expect(world.remote('a.md')).toBe('edited');
});

test('a directory that takes the place of a source is watched without a rescan', async () => {
  const world = await createDaemonWorld(WATCHED_ONLY);
  world.write('docs/a.md', 'one');
  world.write('next/a.md', 'one');
  const running = await world.start();
  world.move('docs', 'old');
  world.move('next', 'docs');
  await world.until(() => running.passes.length === 2, 'it is noticed');
  world.write('docs/sub/c.md', 'three');
  await world.until(() => world.remote('sub/c.md') === 'three', 'what is written there arrives');
  expect(running.passes.at(-1)?.trigger).toBe('root');
  expect(running.daemon.watchedDirectories.get('docs')).toBe(2);
});

test('nothing that changes in a halted source is sent while it stays halted', async () => {
  const world = await createDaemonWorld({
    ...WATCHED_ONLY,
    sources: [{ directory: './docs' }, { directory: './more', botId: 'bot-2' }],
    removals: { mode: 'expire', delay: '10s' },
  });
  world.write('docs/a.md', 'one');
  world.write('docs/b.md', 'two');
  const running = await world.start();
  world.remove('docs');
  world.makeDirectory('docs');
  await world.until(() => running.passes.at(-1)?.exitCode === 5, 'it is halted');
  // As what writes to a mount point does while nothing is mounted there.
  world.write('docs/a.md', 'WRONG');
  world.write('docs/stray.md', 'WRONG');
  world.write('more/mark.md', '');
  await world.until(() => sentPaths(running).includes('mark.md'), 'what came after in the other arrives');
  await world.wait(30_000);
  expect(running.passes).toHaveLength(2);
  expect(world.keys().sort()).toEqual(['a.md', 'b.md']);
  expect(world.remote('a.md')).toBe('one');
});
