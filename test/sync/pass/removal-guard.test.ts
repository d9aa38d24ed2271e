import { mkdirSync, renameSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createSyncedWorld, createWorld, numbered } from '../world.ts';

const DAY = 24 * 60 * 60_000;
const EXPIRE = { removals: { mode: 'expire' } };

test.each([
  ['more than removals.maxCount', { mode: 'expire', maxCount: 2 }, 3, 20],
  ['more than removals.maxFraction, above ten', { mode: 'expire', maxFraction: 0.5 }, 11, 20],
])('%s at once halts the source, and nothing is removed', async (_what, removals, gone, files) => {
  const world = await createSyncedWorld(numbered(files), { removals });
  for (let n = 0; n < gone; n++) world.remove(`docs/${n}`);
  world.write('docs/new', 'new');
  const halted = await world.pass();
  expect(halted).toMatchObject({
    exitCode: 5,
    summary: { removed: 0, uploaded: 1, toRemove: gone, kept: 0 },
  });
  expect(halted.events.at(-1)).toMatchObject({ kind: 'problem', path: '.', key: null });
  expect(world.keys()).toHaveLength(files + 1);
  expect(world.status().sources[0]?.halted).toContain('would be removed');
  expect(await world.plan()).toMatchObject({ exitCode: 5, summary: { removed: 0 } });
  expect(await world.pass({ allowRemovals: true })).toMatchObject({
    exitCode: 0,
    summary: { removed: gone },
  });
  expect(world.status().sources[0]?.halted).toBeNull();
});

test('removals in several passes within an hour are counted together', async () => {
  const world = await createSyncedWorld(numbered(10), { removals: { mode: 'expire', maxCount: 3 } });
  world.remove('docs/0');
  world.remove('docs/1');
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 2 } });
  world.clock.advance(30 * 60_000);
  world.remove('docs/2');
  world.remove('docs/3');
  expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { removed: 0 } });
  world.clock.advance(31 * 60_000);
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 2 } });
});

test('the fraction of removals is taken of all that the source had within the hour', async () => {
  const world = await createSyncedWorld(numbered(40), EXPIRE);
  for (let n = 0; n < 8; n++) world.remove(`docs/${n}`);
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 8 } });
  // 19 are less than half of 40, and more than half of the 32 that are left.
  for (let n = 8; n < 19; n++) world.remove(`docs/${n}`);
  expect(await world.plan()).toMatchObject({ exitCode: 0, summary: { removed: 11 } });
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 11 } });
});

test.each([{ mode: 'keep' }, { mode: 'expire' }])(
  '%o: a source whose directory is missing, emptied or replaced is halted, the others go on',
  async (removals) => {
    const world = await createWorld({
      removals,
      sources: [{ directory: './docs' }, { directory: './more' }],
    });
    for (const name of ['a', 'b', 'c']) world.write(`docs/${name}`, name);
    await world.pass();
    const docs = world.at('docs');
    const away = world.at('away');

    renameSync(docs, away);
    world.write('more/1', '1');
    expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { uploaded: 1, removed: 0 } });
    expect(world.status().sources[0]?.halted).toContain('does not exist');

    mkdirSync(docs);
    world.write('more/2', '2');
    expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { uploaded: 1, removed: 0 } });
    expect(world.status().sources[0]?.halted).toContain('no files, although');

    world.write('docs/README', 'this volume is not mounted');
    world.write('more/3', '3');
    expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { uploaded: 1, removed: 0 } });
    expect(world.status().sources[0]?.halted).toContain('not the same directory');
    expect(world.keys()).toEqual(['1', '2', '3', 'a', 'b', 'c']);

    world.remove('docs');
    renameSync(away, docs);
    expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0, summary: { unchanged: 6 } });
    expect(world.status().sources[0]?.halted).toBeNull();
  },
);

test.each([
  ['emptied', []],
  ['replaced', ['README']],
])(
  'a directory that is %s while its ignore file is away loses nothing that was ignored',
  async (_how, there) => {
    const world = await createSyncedWorld(['a'], EXPIRE);
    world.write('docs/.botsyncignore', '/a');
    await world.pass();
    world.move('docs', 'away');
    world.makeDirectory('docs');
    for (const name of there) world.write(`docs/${name}`, 'not mounted');
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 0, kept: 1 } });
    expect(world.remote('a')).toBe('a');
  },
);

test('a directory that was replaced by one with the same files is accepted', async () => {
  const world = await createSyncedWorld(['a', 'b', 'c'], EXPIRE);
  world.move('docs', 'old');
  for (const name of ['a', 'b', 'c']) world.write(`docs/${name}`, name);
  world.write('docs/d', 'd');
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 1, unchanged: 3 } });
});

test.each([
  ['half of its files is accepted', 'abcd', 'cd', { exitCode: 0, summary: { unchanged: 2, removed: 2 } }],
  ['fewer is not', 'abcde', 'de', { exitCode: 5, requests: 0, summary: { removed: 0 } }],
])('a directory that was replaced by one with %s', async (_what, before, there, expected) => {
  const world = await createWorld(EXPIRE);
  for (const name of before) world.write(`docs/${name}`, name);
  await world.pass();
  world.move('docs', 'old');
  for (const name of there) world.write(`docs/${name}`, name);
  expect(await world.pass()).toMatchObject(expected);
});

test('of a large directory that was replaced the first 200 files tell', async () => {
  const world = await createWorld(EXPIRE);
  const names = Array.from({ length: 410 }, (_, n) => String(1000 + n));
  for (const name of names) world.write(`docs/${name}`, name);
  await world.pass();
  world.move('docs', 'old');
  for (const name of names.slice(0, 100)) world.write(`docs/${name}`, name);
  // Most of all that is gone is too much for the guard, which is another reason to halt.
  expect(await world.pass()).toMatchObject({ exitCode: 5 });
  expect(world.status().sources[0]?.halted).toContain('would be removed');
});

test('an emptied source is let through once when asked to, and its files go', async () => {
  const world = await createSyncedWorld(['a'], EXPIRE);
  world.remove('docs/a');
  expect(await world.pass()).toMatchObject({ exitCode: 5 });
  expect(await world.pass({ allowRemovals: true })).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
  expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0 });
});

test('a removal that could not be carried out while the clock was ahead is not waited for until then', async () => {
  const world = await createSyncedWorld(['a', 'b'], EXPIRE);
  world.remove('docs/a');
  world.clock.advance(400 * DAY);
  world.fail('upload', 500, { times: 40 });
  expect(await world.pass()).toMatchObject({ summary: { removed: 0, failed: 1 } });
  world.emulator.faults.clear();
  world.clock.advance(-399 * DAY);
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 1, kept: 0 } });
});

test('removals that were carried out while the clock was ahead count in the guard for an hour, not until then', async () => {
  const world = await createSyncedWorld(['a', 'b', 'c'], { removals: { mode: 'expire', maxCount: 1 } });
  world.clock.advance(400 * DAY);
  world.remove('docs/a');
  expect(await world.pass()).toMatchObject({ summary: { removed: 1 } });
  world.clock.advance(-399 * DAY);
  world.remove('docs/b');
  expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { removed: 0 } });
  world.clock.advance(61 * 60_000);
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
});

test('removals that someone let through do not count against what comes after them', async () => {
  const world = await createSyncedWorld(numbered(10), { removals: { mode: 'expire', maxCount: 3 } });
  for (let n = 0; n < 4; n++) world.remove(`docs/${n}`);
  expect(await world.pass({ allowRemovals: true })).toMatchObject({ exitCode: 0, summary: { removed: 4 } });
  world.remove('docs/4');
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
});
