import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { createWorld, type World } from '../world.ts';

const DAY = 24 * 60 * 60_000;
const EXPIRE = { removals: { mode: 'expire' } };

/** The states of the rows, in path order. */
function statesOf(world: World): unknown[] {
  const database = new DatabaseSync(world.config().stateFile, { readOnly: true });
  const rows = database.prepare('SELECT state FROM file ORDER BY path').all();
  database.close();
  return rows.map(({ state }): unknown => state);
}

function remove(world: World, path: string): void {
  rmSync(join(world.directory, path), { recursive: true });
}

test('by default nothing is removed: a file without a local file is kept and counted', async () => {
  const world = await createWorld();
  world.write('docs/a', 'a');
  world.write('docs/b', 'b');
  await world.pass();
  remove(world, 'docs/a');
  expect(await world.pass()).toMatchObject({
    requests: 0,
    exitCode: 0,
    summary: { kept: 1, unchanged: 1, removed: 0 },
  });
  expect(world.status().sources).toMatchObject([{ files: 1, kept: 1 }]);
  world.write('docs/a', 'a');
  expect(await world.pass()).toMatchObject({ requests: 0, summary: { kept: 0, unchanged: 2 } });
  expect(world.status().sources).toMatchObject([{ files: 2, kept: 0 }]);
});

test('with "expire" a removed file is replaced by an empty one that expires, and is gone then', async () => {
  const world = await createWorld({
    ...EXPIRE,
    rules: [{ match: '**', index: true, accessPolicies: ['public_content'] }],
  });
  world.write('docs/a.md', 'a');
  world.write('docs/b.md', 'b');
  await world.pass();
  remove(world, 'docs/a.md');
  const removing = await world.pass();
  expect(removing).toMatchObject({
    exitCode: 0,
    requests: 2,
    summary: { removed: 1, unchanged: 1, kept: 0 },
  });
  expect(removing.events).toMatchObject([{ kind: 'remove', path: 'a.md', outcome: 'done' }]);
  const [file] = world.emulator.listFiles('bot-1');
  expect(file).toMatchObject({ key: 'a.md', size: 0, index: false, accessPolicies: [] });
  const leftMs = Date.parse(file?.expiresAt ?? '') - world.clock.now();
  expect(leftMs).toBeGreaterThan(0);
  expect(leftMs).toBeLessThanOrEqual(120_000);
  // Nothing more is asked for while it expires, nor after.
  expect(await world.pass()).toMatchObject({ requests: 0, summary: { kept: 0, removed: 0 } });
  world.clock.advance(121_000);
  expect(world.keys()).toEqual(['b.md']);
  expect(await world.pass()).toMatchObject({ requests: 0, summary: { unchanged: 1, kept: 0 } });
  expect(world.status().sources).toMatchObject([{ files: 1, kept: 0 }]);
});

test('the row of a removed file goes when it has expired on the platform, and no sooner', async () => {
  const world = await createWorld(EXPIRE);
  for (const name of ['a', 'b']) world.write(`docs/${name}`, name);
  await world.pass();
  remove(world, 'docs/a');
  await world.pass();
  expect(statesOf(world)).toEqual(['removing', 'synced']);
  const [file] = world.emulator.listFiles('bot-1');
  world.clock.advance(Date.parse(file?.expiresAt ?? '') - world.clock.now() - 30_000);
  await world.pass();
  expect(statesOf(world)).toEqual(['removing', 'synced']);
  world.clock.advance(31_000);
  await world.pass();
  expect(statesOf(world)).toEqual(['synced']);
});

test('of a file that never got to the platform nothing is left when it is removed', async () => {
  const world = await createWorld(EXPIRE);
  for (const name of ['a', 'b']) world.write(`docs/${name}`, name);
  world.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 400, key: 'a' });
  expect(await world.pass()).toMatchObject({ exitCode: 3, summary: { uploaded: 1, failed: 1 } });
  expect(statesOf(world)).toEqual(['refused', 'synced']);
  remove(world, 'docs/a');
  expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0, summary: { removed: 0, kept: 0 } });
  expect(statesOf(world)).toEqual(['synced']);
});

test('what is not removed because something could not be seen counts as kept, in the plan and in the pass', async () => {
  const world = await createWorld({ ...EXPIRE, sources: [{ directory: './docs', symlinks: 'inside' }] });
  world.write('docs/a', 'a');
  world.write('docs/b', 'b');
  await world.pass();
  remove(world, 'docs/a');
  symlinkSync('nowhere', join(world.directory, 'docs/lost'));
  const counts = { removed: 0, kept: 1, problems: 1 };
  expect(await world.plan()).toMatchObject({ exitCode: 3, summary: counts });
  expect(await world.pass()).toMatchObject({ exitCode: 3, requests: 0, summary: counts });
  expect(await world.pass()).toMatchObject({ exitCode: 3, requests: 0, summary: counts });
});

test.each([
  ['with the same content, before the empty one expired', 'a', 0],
  ['with another content', 'other', 0],
  ['after it expired', 'a', 180_000],
])('a file that comes back %s is whole again', async (_what, content, waitMs) => {
  const world = await createWorld(EXPIRE);
  world.write('docs/a', 'a');
  world.write('docs/b', 'b');
  await world.pass();
  renameSync(join(world.directory, 'docs/a'), join(world.directory, 'aside'));
  await world.pass();
  world.clock.advance(waitMs);
  if (content === 'a') renameSync(join(world.directory, 'aside'), join(world.directory, 'docs/a'));
  else world.write('docs/a', content);
  expect(await world.pass()).toMatchObject({ summary: { uploaded: 1 } });
  expect(world.remote('a')).toBe(content);
  world.clock.advance(300_000);
  expect(world.remote('a')).toBe(content);
});

test('a renamed file is on the platform under its new key before the old one goes', async () => {
  const world = await createWorld(EXPIRE);
  world.write('docs/z-old', 'content');
  world.write('docs/other', 'o');
  await world.pass();
  renameSync(join(world.directory, 'docs/z-old'), join(world.directory, 'docs/z-new'));
  const outcome = await world.pass();
  expect(outcome.events.map(({ kind, path }) => [kind, path])).toEqual([
    ['upload', 'z-new'],
    ['remove', 'z-old'],
  ]);
});

test('when the new key could not be sent, the old one stays', async () => {
  const world = await createWorld({ ...EXPIRE, upload: { attempts: 1 } });
  world.write('docs/old', 'content');
  world.write('docs/other', 'o');
  await world.pass();
  renameSync(join(world.directory, 'docs/old'), join(world.directory, 'docs/new'));
  world.emulator.faults.add({ operation: 'upsert', key: 'new', kind: 'status', status: 500 });
  expect(await world.pass()).toMatchObject({ exitCode: 3, summary: { failed: 1, removed: 0, pending: 1 } });
  expect(world.remote('old')).toBe('content');
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 1, removed: 1 } });
});

test('so does one whose new name is gone behind the walk', async () => {
  const world = await createWorld(EXPIRE);
  world.write('docs/z', 'content');
  await world.pass();
  const move = (from: string, to: string): void => {
    renameSync(join(world.directory, 'docs', from), join(world.directory, 'docs', to));
  };
  move('z', 'b');
  world.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 500, key: 'b' });
  const { now, monotonic, sleep } = world.clock;
  let isMoved = false;
  const moveFirst = async (ms: number): Promise<void> => {
    if (!isMoved) move('b', 'a');
    isMoved = true;
    await sleep(ms);
  };
  const outcome = await world.pass({ clock: { now, monotonic, sleep: moveFirst } });
  expect(outcome).toMatchObject({ exitCode: 3, summary: { removed: 0, pending: 1 } });
  expect(world.remote('z')).toBe('content');
});

test('what botsync did not upload is never touched', async () => {
  const world = await createWorld({ ...EXPIRE, rules: [{ match: 'bad', tags: { long: 'x' } }] });
  world.write('docs/other', 'o');
  world.write('docs/bad', 'b');
  world.emulator.faults.add({
    operation: 'upsert',
    key: 'bad',
    kind: 'status',
    status: 400,
    type: 'InvalidPayload',
  });
  await world.pass();
  remove(world, 'docs/bad');
  expect(await world.pass()).toMatchObject({ requests: 0, exitCode: 0, summary: { removed: 0, kept: 0 } });
});

test.each([
  ['newly ignored', { sources: [{ directory: './docs', ignore: ['a'] }] }],
  ['below a directory newly ignored', { sources: [{ directory: './docs', ignore: ['sub/'] }] }],
  ['under another key since the prefix changed', { sources: [{ directory: './docs', keyPrefix: 'new/' }] }],
])('a file that is %s was not removed: it is left alone and counted as kept', async (_what, change) => {
  const world = await createWorld(EXPIRE);
  world.write('docs/a', 'a');
  world.write('docs/sub/b', 'b');
  world.write('docs/c', 'c');
  await world.pass();
  world.configure(change);
  const after = await world.pass();
  expect(after.summary).toMatchObject({ removed: 0 });
  expect(after.summary.kept).toBeGreaterThan(0);
  expect(world.remote('a')).toBe('a');
  expect(world.remote('sub/b')).toBe('b');
  expect(world.status().sources[0]?.kept).toBe(after.summary.kept);
  world.configure({ sources: [{ directory: './docs' }] });
  expect(await world.pass()).toMatchObject({ requests: 0, summary: { unchanged: 3 } });
});

test.each(['before', 'after'])(
  'a file that is removed %s the prefix changed is left alone under its old key',
  async (order) => {
    const world = await createWorld(EXPIRE);
    world.write('docs/a', 'a');
    world.write('docs/b', 'b');
    await world.pass();
    if (order === 'before') remove(world, 'docs/a');
    world.configure({ sources: [{ directory: './docs', keyPrefix: 'p/' }] });
    await world.pass();
    if (order === 'after') remove(world, 'docs/a');
    await world.pass();
    expect(world.remote('a')).toBe('a');
    expect(world.keys()).toContain('a');
    expect(await world.pass()).toMatchObject({ requests: 0, exitCode: 0 });
  },
);

test('a removal reckons with the time of the platform, also when it is the first request', async () => {
  let aheadMs = 0;
  const world = await createWorld(EXPIRE, { now: () => Date.now() + aheadMs });
  world.write('docs/a', 'a');
  world.write('docs/b', 'b');
  await world.pass();
  remove(world, 'docs/a');
  aheadMs = 10 * 60_000;
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
  aheadMs += 121_000;
  expect(world.keys()).toEqual(['b']);
});

test('a file whose removal was refused is kept once removals are off', async () => {
  const world = await createWorld(EXPIRE);
  world.write('docs/a', 'a');
  world.write('docs/b', 'b');
  await world.pass();
  remove(world, 'docs/a');
  world.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 400, times: 2 });
  expect(await world.pass()).toMatchObject({ exitCode: 3, summary: { removed: 0, failed: 1 } });
  world.emulator.faults.clear();
  world.configure({ removals: { mode: 'keep' } });
  expect(await world.plan()).toMatchObject({ exitCode: 0, summary: { kept: 1 } });
  expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0, summary: { kept: 1 } });
  expect(world.status().sources).toMatchObject([{ kept: 1 }]);
  world.configure(EXPIRE);
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 1, kept: 0 } });
  expect(world.status().sources).toMatchObject([{ kept: 0 }]);
});

test('files of a source that left the config are left alone and counted as kept', async () => {
  const world = await createWorld({ ...EXPIRE, sources: [{ directory: './docs' }, { directory: './more' }] });
  mkdirSync(join(world.directory, 'more'));
  world.write('docs/a', 'a');
  world.write('more/b', 'b');
  await world.pass();
  world.configure({ sources: [{ directory: './docs' }] });
  expect(await world.pass()).toMatchObject({ requests: 0, exitCode: 0 });
  expect(world.status().sources).toMatchObject([
    { name: 'docs', files: 1, kept: 0 },
    { name: 'more', files: 0, kept: 1 },
  ]);
});

test('a removal that was begun is carried on after a crash, and a file that came back meanwhile is sent', async () => {
  const world = await createWorld({ ...EXPIRE, upload: { attempts: 1 } });
  for (const name of ['a', 'b', 'c']) world.write(`docs/${name}`, name);
  await world.pass();
  renameSync(join(world.directory, 'docs/a'), join(world.directory, 'aside'));
  remove(world, 'docs/b');
  // The upsert is carried out, which erases the content, and its answer is lost.
  world.emulator.faults.add({ operation: 'upsert', kind: 'apply-then-drop', times: 2 });
  expect(await world.pass()).toMatchObject({ exitCode: 3, summary: { failed: 2 } });
  renameSync(join(world.directory, 'aside'), join(world.directory, 'docs/a'));
  expect(await world.pass()).toMatchObject({
    exitCode: 0,
    summary: { uploaded: 1, removed: 1, unchanged: 1 },
  });
  expect(world.remote('a')).toBe('a');
});

test.each([
  ['more than removals.maxCount', { mode: 'expire', maxCount: 2 }, 3, 20],
  ['more than removals.maxFraction, above ten', { mode: 'expire', maxFraction: 0.5 }, 11, 20],
])('%s at once halts the source, and nothing is removed', async (_what, removals, gone, files) => {
  const world = await createWorld({ removals });
  for (let n = 0; n < files; n++) world.write(`docs/${n}`, String(n));
  await world.pass();
  for (let n = 0; n < gone; n++) remove(world, `docs/${n}`);
  world.write('docs/new', 'new');
  const halted = await world.pass();
  expect(halted).toMatchObject({ exitCode: 5, summary: { removed: 0, uploaded: 1, kept: gone } });
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
  const world = await createWorld({ removals: { mode: 'expire', maxCount: 3 } });
  for (let n = 0; n < 10; n++) world.write(`docs/${n}`, String(n));
  await world.pass();
  remove(world, 'docs/0');
  remove(world, 'docs/1');
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 2 } });
  world.clock.advance(30 * 60_000);
  remove(world, 'docs/2');
  remove(world, 'docs/3');
  expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { removed: 0 } });
  world.clock.advance(31 * 60_000);
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 2 } });
});

test('the fraction of removals is taken of all that the source had within the hour', async () => {
  const world = await createWorld(EXPIRE);
  for (let n = 0; n < 40; n++) world.write(`docs/${n}`, String(n));
  await world.pass();
  for (let n = 0; n < 8; n++) remove(world, `docs/${n}`);
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 8 } });
  // 19 are less than half of 40, and more than half of the 32 that are left.
  for (let n = 8; n < 19; n++) remove(world, `docs/${n}`);
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
    mkdirSync(join(world.directory, 'more'));
    for (const name of ['a', 'b', 'c']) world.write(`docs/${name}`, name);
    await world.pass();
    const docs = join(world.directory, 'docs');
    const away = join(world.directory, 'away');

    renameSync(docs, away);
    world.write('more/1', '1');
    expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { uploaded: 1, removed: 0 } });
    expect(world.status().sources[0]?.halted).toContain('does not exist');

    mkdirSync(docs);
    world.write('more/2', '2');
    expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { uploaded: 1, removed: 0 } });
    expect(world.status().sources[0]?.halted).toContain('no files any more');

    world.write('docs/README', 'this volume is not mounted');
    world.write('more/3', '3');
    expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { uploaded: 1, removed: 0 } });
    expect(world.status().sources[0]?.halted).toContain('another directory');
    expect(world.keys()).toEqual(['1', '2', '3', 'a', 'b', 'c']);

    remove(world, 'docs');
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
    const world = await createWorld(EXPIRE);
    world.write('docs/a', 'a');
    await world.pass();
    world.write('docs/.botsyncignore', '/a');
    await world.pass();
    renameSync(join(world.directory, 'docs'), join(world.directory, 'away'));
    mkdirSync(join(world.directory, 'docs'));
    for (const name of there) world.write(`docs/${name}`, 'not mounted');
    expect(await world.pass()).toMatchObject({ exitCode: 5, requests: 0, summary: { removed: 0 } });
    expect(world.remote('a')).toBe('a');
  },
);

test('a directory that was replaced by one with the same files is accepted', async () => {
  const world = await createWorld(EXPIRE);
  for (const name of ['a', 'b', 'c']) world.write(`docs/${name}`, name);
  await world.pass();
  renameSync(join(world.directory, 'docs'), join(world.directory, 'old'));
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
  renameSync(join(world.directory, 'docs'), join(world.directory, 'old'));
  for (const name of there) world.write(`docs/${name}`, name);
  expect(await world.pass()).toMatchObject(expected);
});

test('of a large directory that was replaced the first 200 files tell', async () => {
  const world = await createWorld(EXPIRE);
  const names = Array.from({ length: 410 }, (_, n) => String(1000 + n));
  for (const name of names) world.write(`docs/${name}`, name);
  await world.pass();
  renameSync(join(world.directory, 'docs'), join(world.directory, 'old'));
  for (const name of names.slice(0, 100)) world.write(`docs/${name}`, name);
  // Most of all that is gone is too much for the guard, which is another reason to halt.
  expect(await world.pass()).toMatchObject({ exitCode: 5 });
  expect(world.status().sources[0]?.halted).toContain('would be removed');
});

test('an emptied source is let through once when asked to, and its files go', async () => {
  const world = await createWorld(EXPIRE);
  world.write('docs/a', 'a');
  await world.pass();
  remove(world, 'docs/a');
  expect(await world.pass()).toMatchObject({ exitCode: 5 });
  expect(await world.pass({ allowRemovals: true })).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
  expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0 });
});

test('a removal that could not be carried out while the clock was ahead is not waited for until then', async () => {
  const world = await createWorld(EXPIRE);
  for (const name of ['a', 'b']) world.write(`docs/${name}`, name);
  await world.pass();
  remove(world, 'docs/a');
  world.clock.advance(400 * DAY);
  world.emulator.faults.add({ operation: 'upload', kind: 'status', status: 500, times: 40 });
  expect(await world.pass()).toMatchObject({ summary: { removed: 0, failed: 1 } });
  world.emulator.faults.clear();
  world.clock.advance(-399 * DAY);
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 1, kept: 0 } });
});

test('removals that were carried out while the clock was ahead count in the guard for an hour, not until then', async () => {
  const world = await createWorld({ removals: { mode: 'expire', maxCount: 1 } });
  for (const name of ['a', 'b', 'c']) world.write(`docs/${name}`, name);
  await world.pass();
  world.clock.advance(400 * DAY);
  remove(world, 'docs/a');
  expect(await world.pass()).toMatchObject({ summary: { removed: 1 } });
  world.clock.advance(-399 * DAY);
  remove(world, 'docs/b');
  expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { removed: 0 } });
  world.clock.advance(61 * 60_000);
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
});

test('removals that someone let through do not count against what comes after them', async () => {
  const world = await createWorld({ removals: { mode: 'expire', maxCount: 3 } });
  for (let n = 0; n < 10; n++) world.write(`docs/${n}`, String(n));
  await world.pass();
  for (let n = 0; n < 4; n++) remove(world, `docs/${n}`);
  expect(await world.pass({ allowRemovals: true })).toMatchObject({ exitCode: 0, summary: { removed: 4 } });
  remove(world, 'docs/4');
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
});
