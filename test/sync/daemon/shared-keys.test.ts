import { describe, expect, test } from 'vitest';
import { createDaemonWorld, removedKeys, requestsFor } from '../daemon-world.ts';

const NFC = '\u00e9.txt';
const NFD = 'e\u0301.txt';

/** No rescan comes to the rescue. */
const WATCHED_ONLY = { watch: { rescan: '24d' } };

describe.each([{ mode: 'expire', delay: '1s' }, { mode: 'keep' }])(
  'the file that keeps a key goes (removals %j): another that gives it as well takes it over',
  (removals) => {
    test.each(['before', 'after'])('in another source, and there %s it', async (order) => {
      const world = await createDaemonWorld({
        removals,
        ...WATCHED_ONLY,
        sources: [
          { directory: './docs', name: 'docs' },
          { directory: './more', name: 'more' },
        ],
      });
      world.write('docs/first.txt', '1');
      world.write('more/last.txt', '2');
      world.write('more/x.txt', 'of more');
      if (order === 'after') world.write('docs/x.txt', 'of docs');
      const running = await world.start();
      if (order === 'before') world.write('docs/x.txt', 'of docs');
      await world.until(() => world.remote('x.txt') === 'of docs', 'the one that stands first has the key');
      await world.wait(5000, 100);
      world.remove('docs/x.txt');
      await world.until(() => world.remote('x.txt') === 'of more', 'the other one has it');
      await world.wait(120_000);
      expect([removedKeys(running), running.passes.length]).toEqual([[], 1]);
    });

    test('under the same name in another normal form', async () => {
      const world = await createDaemonWorld({ removals, ...WATCHED_ONLY });
      for (const name of ['a.txt', 'b.txt']) world.write(`docs/${name}`, name);
      world.write(`docs/${NFD}`, 'decomposed');
      world.write(`docs/${NFC}`, 'composed');
      const running = await world.start();
      expect(world.remote(NFC)).toBe('decomposed');
      world.remove(`docs/${NFD}`);
      await world.until(() => world.remote(NFC) === 'composed', 'the other one has it');
      await world.wait(120_000);
      expect([removedKeys(running), running.passes.length]).toEqual([[], 1]);
    });
  },
);

test('a file that vanishes before it is sent leaves its key to the one that was told to stand behind', async () => {
  const world = await createDaemonWorld({
    ...WATCHED_ONLY,
    upload: { concurrency: 1 },
    sources: [
      { directory: './docs', name: 'docs' },
      { directory: './more', name: 'more' },
    ],
  });
  world.write('docs/first.md', '1');
  world.write('more/last.md', '2');
  const running = await world.start();
  world.emulator.faults.add({ operation: 'upload', key: 'slow.md', kind: 'hang' });
  const before = requestsFor(world, 'upload');
  world.write('docs/slow.md', 'slow');
  await world.until(() => requestsFor(world, 'upload') > before, 'the only transfer is taken');
  world.write('docs/a.md', 'of docs');
  await world.wait(3000, 100);
  world.write('more/a.md', 'of more');
  await world.until(() => running.events.some(({ kind }) => kind === 'problem'), 'the other stands behind');
  world.remove('docs/a.md');
  world.emulator.faults.clear();
  await world.until(() => world.remote('a.md') === 'of more', 'it has the key');
  expect(running.passes).toHaveLength(1);
});
