import { symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createSyncedWorld, createWorld, type World } from '../world.ts';

const EXPIRE = { removals: { mode: 'expire' } };

/** The states of the rows, in path order. */
function statesOf(world: World): unknown[] {
  return world.sql('SELECT state FROM file ORDER BY path').map(({ state }) => state);
}

test('by default nothing is removed: a file without a local file is kept and counted', async () => {
  const world = await createSyncedWorld(['a', 'b']);
  world.remove('docs/a');
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

test('what was kept stays kept when removals are turned on, until the file is back', async () => {
  const world = await createSyncedWorld(['a', 'b', 'c', 'd'], { removals: { mode: 'delete' } });
  world.configure({ removals: { mode: 'keep' } });
  world.remove('docs/a');
  world.remove('docs/b');
  await world.pass();
  world.configure({ removals: { mode: 'delete' } });
  world.write('docs/b', 'b');
  world.remove('docs/c');
  expect((await world.plan()).summary).toMatchObject({ kept: 1, removed: 1 });
  expect(await world.pass()).toMatchObject({ summary: { kept: 1, removed: 1, unchanged: 2 } });
  world.remove('docs/b');
  expect(await world.pass()).toMatchObject({ summary: { kept: 1, removed: 1 } });
  expect(['a', 'b', 'c'].map((key) => world.remote(key))).toEqual(['a', '', '']);
});

test('what was ignored stays kept when it is no longer ignored and was deleted meanwhile', async () => {
  const world = await createSyncedWorld(['a', 'b'], EXPIRE);
  world.configure({ sources: [{ directory: './docs', ignore: ['a'] }] });
  await world.pass();
  world.remove('docs/a');
  world.configure({ sources: [{ directory: './docs' }] });
  expect(await world.pass()).toMatchObject({ requests: 0, summary: { kept: 1, removed: 0 } });
});

test('with "expire" a removed file is replaced by an empty one that expires, and is gone then', async () => {
  const world = await createWorld({
    ...EXPIRE,
    rules: [{ match: '**', index: true, accessPolicies: ['public_content'] }],
  });
  world.write('docs/a.md', 'a');
  world.write('docs/b.md', 'b');
  await world.pass();
  world.remove('docs/a.md');
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
  const world = await createSyncedWorld(['a', 'b'], EXPIRE);
  world.remove('docs/a');
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
  world.fail('upsert', 400, { key: 'a' });
  expect(await world.pass()).toMatchObject({ exitCode: 3, summary: { uploaded: 1, failed: 1 } });
  expect(statesOf(world)).toEqual(['refused', 'synced']);
  world.remove('docs/a');
  expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0, summary: { removed: 0, kept: 0 } });
  expect(statesOf(world)).toEqual(['synced']);
});

test('what is not removed because something could not be seen counts as waiting, in the plan and in the pass', async () => {
  const world = await createSyncedWorld(['a', 'b'], {
    ...EXPIRE,
    sources: [{ directory: './docs', symlinks: 'inside' }],
  });
  world.remove('docs/a');
  symlinkSync('nowhere', world.at('docs/lost'));
  const counts = { removed: 0, kept: 0, toRemove: 1, problems: 1 };
  expect(await world.plan()).toMatchObject({ exitCode: 3, summary: counts });
  expect(await world.pass()).toMatchObject({ exitCode: 3, requests: 0, summary: counts });
  expect(await world.pass()).toMatchObject({ exitCode: 3, requests: 0, summary: counts });
});

test.each([
  ['with the same content, before the empty one expired', 'a', 0],
  ['with another content', 'other', 0],
  ['after it expired', 'a', 180_000],
])('a file that comes back %s is whole again', async (_what, content, waitMs) => {
  const world = await createSyncedWorld(['a', 'b'], EXPIRE);
  world.move('docs/a', 'aside');
  await world.pass();
  world.clock.advance(waitMs);
  if (content === 'a') world.move('aside', 'docs/a');
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
  world.move('docs/z-old', 'docs/z-new');
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
  world.move('docs/old', 'docs/new');
  world.fail('upsert', 409, { key: 'new', type: 'ResourceLockedConflict' });
  expect(await world.pass()).toMatchObject({ exitCode: 3, summary: { failed: 1, removed: 0, pending: 1 } });
  expect(world.remote('old')).toBe('content');
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 1, removed: 1 } });
});

test('so does one whose new name is gone behind the walk', async () => {
  const world = await createWorld(EXPIRE);
  world.write('docs/z', 'content');
  await world.pass();
  const move = (from: string, to: string): void => {
    world.move(`docs/${from}`, `docs/${to}`);
  };
  move('z', 'b');
  world.fail('upsert', 500, { key: 'b' });
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
  world.fail('upsert', 400, { key: 'bad', type: 'InvalidPayload' });
  await world.pass();
  world.remove('docs/bad');
  expect(await world.pass()).toMatchObject({ requests: 0, exitCode: 0, summary: { removed: 0, kept: 0 } });
});

test.each([
  ['newly ignored', { sources: [{ directory: './docs', ignore: ['a'] }] }],
  ['below a directory newly ignored', { sources: [{ directory: './docs', ignore: ['sub/'] }] }],
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
  'a file that is removed %s the prefix changed goes under its old key as well',
  async (order) => {
    const world = await createSyncedWorld(['a', 'b'], EXPIRE);
    if (order === 'before') world.remove('docs/a');
    world.configure({ sources: [{ directory: './docs', keyPrefix: 'p/' }] });
    await world.pass();
    if (order === 'after') world.remove('docs/a');
    await world.pass();
    expect(world.remote('a')).toBe('');
    expect(world.remote('b')).toBe('');
    expect(world.remote('p/b')).toBe('b');
    expect(await world.pass()).toMatchObject({ requests: 0, exitCode: 0 });
  },
);

test('a removal reckons with the time of the platform, also when it is the first request', async () => {
  let aheadMs = 0;
  const world = await createSyncedWorld(['a', 'b'], EXPIRE, { now: () => Date.now() + aheadMs });
  world.remove('docs/a');
  aheadMs = 10 * 60_000;
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
  aheadMs += 121_000;
  expect(world.keys()).toEqual(['b']);
});

test('a file whose removal was refused is kept once removals are off', async () => {
  const world = await createSyncedWorld(['a', 'b'], EXPIRE);
  world.remove('docs/a');
  world.fail('upsert', 400, { times: 2 });
  expect(await world.pass()).toMatchObject({ exitCode: 3, summary: { removed: 0, failed: 1 } });
  world.emulator.faults.clear();
  world.configure({ removals: { mode: 'keep' } });
  expect(await world.plan()).toMatchObject({ exitCode: 0, summary: { kept: 1 } });
  expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0, summary: { kept: 1 } });
  expect(world.status().sources).toMatchObject([{ kept: 1 }]);
  world.configure(EXPIRE);
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 0, kept: 1 } });
  expect(world.remote('a')).toBe('a');
});

test('files of a source that left the config are left alone and counted as kept', async () => {
  const world = await createWorld({ ...EXPIRE, sources: [{ directory: './docs' }, { directory: './more' }] });
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
  const world = await createSyncedWorld(['a', 'b', 'c'], { ...EXPIRE, upload: { giveUpAfter: '1s' } });
  world.move('docs/a', 'aside');
  world.remove('docs/b');
  // The upsert is carried out, which erases the content, and its answer is lost.
  world.emulator.faults.add({ operation: 'upsert', kind: 'apply-then-drop', times: Infinity });
  expect(await world.pass()).toMatchObject({ exitCode: 3, summary: { failed: 2 } });
  world.emulator.faults.clear();
  world.move('aside', 'docs/a');
  expect(await world.pass()).toMatchObject({
    exitCode: 0,
    summary: { uploaded: 1, removed: 1, unchanged: 1 },
  });
  expect(world.remote('a')).toBe('a');
});
