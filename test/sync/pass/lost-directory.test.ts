import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FileEvent } from '../../../src/domain/report.ts';
import { eventually } from '../../files/watch-fixture.ts';
import { requestsFor } from '../daemon-world.ts';
import { createSyncedWorld, createWorld, type PassOptions, type PassOutcome, type World } from '../world.ts';

const EXPIRE = { removals: { mode: 'expire' } };

/** More new files than a pass has in hand at a time: what comes behind them is not looked at yet. */
const MORE_THAN_IN_HAND = 300;

const move = ({ directory }: World, from: string, to: string): void => {
  renameSync(join(directory, from), join(directory, to));
};

/** A source with files that are in sync, and before them one that a pass skips and tells of. */
async function createKnownWorld(count: number): Promise<World> {
  const world = await createWorld({
    ...EXPIRE,
    rules: [{ match: 'a.pdf', index: true, whenTooLargeToIndex: 'skip' }],
    limits: { indexBytes: 1 },
  });
  for (let i = 0; i < count; i++) world.write(`docs/z${i}.md`, `file ${i}`);
  await world.pass();
  world.write('docs/a.pdf', 'too large');
  return world;
}

/** A pass in whose midst something happens: when the first file is skipped. */
function passDuring(world: World, happens: () => void, options: PassOptions = {}): Promise<PassOutcome> {
  let isOver = false;
  const event = ({ kind }: FileEvent): void => {
    if (kind !== 'skip' || isOver) return;
    isOver = true;
    happens();
  };
  const report = { event };
  return world.pass({ ...options, report });
}

test('a pass that is stopped looks at nothing more', async () => {
  const world = await createKnownWorld(8);
  const stopping = new AbortController();
  const stop = (): void => {
    stopping.abort();
  };
  expect(await passDuring(world, stop, { stop: stopping.signal })).toMatchObject({
    exitCode: 130,
    requests: 0,
    summary: { skipped: 1, unchanged: 0 },
  });
});

test.each([
  ['goes away', () => undefined],
  [
    'is unmounted',
    (world: World) => {
      world.makeDirectory('docs');
    },
  ],
  [
    'is replaced',
    (world: World) => {
      world.write('docs/z3.md', 'WRONG');
    },
  ],
])('a directory that %s during a pass is halted, then and later', async (_how, after) => {
  const world = await createKnownWorld(8);
  const outcome = await passDuring(world, () => {
    move(world, 'docs', 'away');
    after(world);
  });
  expect(outcome).toMatchObject({ exitCode: 5, summary: { removed: 0 } });
  expect(world.status().sources[0]?.halted).toContain('unmounted, removed or replaced');
  expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { removed: 0, uploaded: 0 } });
  rmSync(world.at('docs'), { recursive: true, force: true });
  move(world, 'away', 'docs');
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 0, unchanged: 8 } });
  expect(world.remote('z3.md')).toBe('file 3');
});

test('a directory that goes away while uploads are waited for is halted, and nothing is removed', async () => {
  const world = await createWorld({ ...EXPIRE, upload: { concurrency: 2 } });
  for (let i = 0; i < 8; i++) world.write(`docs/z${i}.md`, `file ${i}`);
  await world.pass();
  for (let i = 0; i < MORE_THAN_IN_HAND; i++) world.write(`docs/new/${i}.md`, `new ${i}`);
  world.emulator.faults.add({ operation: 'upsert', kind: 'hang', times: Infinity });
  const before = requestsFor(world, 'upsert');
  const passing = world.pass();
  await eventually(() => requestsFor(world, 'upsert') > before, 'the pass is under way');
  move(world, 'docs', 'away');
  world.emulator.faults.clear();
  expect(await passing).toMatchObject({ exitCode: 5, summary: { removed: 0 } });
  expect(world.remote('z3.md')).toBe('file 3');
});

test.each([
  ['that have another size', 'edited'],
  // The content tells whether such a file changed, and reading it waits for a transfer as well.
  ['that may have been touched only', 'new'],
])(
  'of a directory that comes in its place while files wait for their transfer nothing is sent: files %s',
  async (_what, content) => {
    const world = await createWorld({ upload: { concurrency: 1 } });
    const names = [0, 1, 2, 3, 4].map((n) => `z${n}.md`);
    for (const name of names) world.write(`docs/${name}`, 'old');
    await world.pass();
    world.write('docs/z0.md', 'edited');
    for (const name of names.slice(1)) world.write(`docs/${name}`, content);
    world.emulator.faults.add({ operation: 'upsert', kind: 'hang' });
    const before = requestsFor(world, 'upsert');
    const passing = world.pass();
    await eventually(() => requestsFor(world, 'upsert') > before, 'the first is on its way');
    move(world, 'docs', 'away');
    for (const name of names) world.write(`docs/${name}`, 'BAD');
    world.emulator.faults.clear();
    expect(await passing).toMatchObject({ exitCode: 3, summary: { uploaded: 1, pending: 4 } });
    expect(names.map((name) => world.remote(name))).toEqual(['edited', 'old', 'old', 'old', 'old']);
    expect(world.status().failures).toEqual([]);
    world.remove('docs');
    move(world, 'away', 'docs');
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 4, unchanged: 1 } });
  },
);

test.each([
  [
    'a file that is back',
    (world: World) => {
      world.write('docs/gone', 'gone');
    },
  ],
  [
    'a file of a directory that is another one',
    (world: World) => {
      move(world, 'docs', 'away');
      world.makeDirectory('docs');
    },
  ],
])('%s when removals are carried out, after the walk, is not removed', async (_what, happens) => {
  const world = await createSyncedWorld(['edited', 'gone'], EXPIRE);
  world.remove('docs/gone');
  world.write('docs/edited', 'anew');
  const event = ({ kind }: FileEvent): void => {
    if (kind === 'upload') happens(world);
  };
  const report = { event };
  expect(await world.pass({ report })).toMatchObject({
    exitCode: 3,
    summary: { uploaded: 1, removed: 0, pending: 1 },
  });
  expect(world.remote('gone')).toBe('gone');
});

test.each([
  ['expire', 5, ['a', 'b', 'c']],
  ['keep', 0, ['a', 'b', 'c', 'x', 'y']],
])(
  'a source that is given another directory with other files, in mode "%s"',
  async (mode, exitCode, keys) => {
    const world = await createSyncedWorld(['a', 'b', 'c'], {
      removals: { mode },
      sources: [{ name: 'docs', directory: './docs' }],
    });
    for (const name of ['x', 'y']) world.write(`other/${name}`, name);
    world.configure({ sources: [{ name: 'docs', directory: './other' }] });
    expect(await world.pass()).toMatchObject({ exitCode, summary: { removed: 0 } });
    expect(world.keys().sort()).toEqual(keys);
    expect(world.remote('a')).toBe('a');
    const { halted } = world.status().sources[0] ?? {};
    expect(halted?.includes('is not the same directory as before') ?? false).toBe(mode === 'expire');
  },
);
