import { expect, test } from 'vitest';
import { failed } from '../../../src/domain/failure.ts';
import type { FilePlatform } from '../../../src/domain/file-catalog.ts';
import { eventually } from '../../files/watch-fixture.ts';
import { deleteAs, putAs } from '../others.ts';
import { createSyncedWorld, createWorld, type PassOutcome, type World } from '../world.ts';
import { whenUpserted } from '../../when-upserted.ts';

const DELETE = { removals: { mode: 'delete' } };

/** A world that deletes, and asks what is there, with files that were sent. `platform`: fields of that block. */
const deletingWorld = (names: readonly string[] = [], platform = {}): ReturnType<typeof createWorld> =>
  createSyncedWorld(names, { ...DELETE, platform: { operations: 'auto', ...platform } });

/** A pass, with what it told in path order: files are removed side by side. */
async function passWith(world: World): Promise<PassOutcome> {
  const outcome = await world.pass();
  return { ...outcome, events: outcome.events.toSorted((one, other) => (one.path < other.path ? -1 : 1)) };
}

/** Rows of the state file, in path order. */
function rowsOf(world: World): unknown[] {
  return world.sql(
    'SELECT path, state, failure, expires_at, sha256 IS NULL AS doubt FROM file ORDER BY path',
  );
}

/** Requests that were seen of one operation. */
const countOf = ({ emulator }: World, operation: string): number => emulator.counts.get(operation) ?? 0;

test('a removed file is deleted at once, and its row with it', async () => {
  const world = await deletingWorld();
  world.write('docs/a.md', 'a');
  world.write('docs/b/c d.md', 'b');
  await world.pass();
  world.remove('docs/b');
  const removing = await passWith(world);
  expect(removing).toMatchObject({
    exitCode: 0,
    summary: { removed: 1, unchanged: 1, kept: 0, problems: 0 },
    warned: [],
  });
  expect(removing.events).toMatchObject([{ kind: 'remove', path: 'b/c d.md', outcome: 'done' }]);
  expect(world.keys()).toEqual(['a.md']);
  expect(rowsOf(world)).toMatchObject([{ path: 'a.md' }]);
  expect([countOf(world, 'get-file'), countOf(world, 'delete-file')]).toEqual([1, 1]);
  expect(world.status().sources).toMatchObject([{ unconfirmed: 1, kept: 0, failed: 0 }]);
  expect(await world.pass()).toMatchObject({ requests: 0, exitCode: 0, summary: { removed: 0 } });
});

test.each([
  ['without marks', { mark: false }],
  ['larger than content that is hashed before it is sent', {}],
])('files %s are deleted by their size', async (_what, platform) => {
  const world = await deletingWorld([], platform);
  for (const name of ['a', 'b', 'c']) world.write(`docs/${name}`, Buffer.alloc(300_000, name));
  await world.pass();
  await putAs(world, 'b', 'of another size');
  for (const name of ['a', 'b']) world.remove(`docs/${name}`);
  const removing = await passWith(world);
  expect(removing).toMatchObject({ exitCode: 3, summary: { removed: 1, problems: 1 } });
  expect(world.keys()).toEqual(['b', 'c']);
});

test('a file that somebody replaced is left alone, which is told once', async () => {
  const world = await deletingWorld(['a', 'b', 'c', 'd']);
  // As large as ours, and without its mark.
  await putAs(world, 'a', 'A');
  await putAs(world, 'b', 'b', { metadata: { botsync: { v: 1, sha256: 'f'.repeat(64), source: 'docs' } } });
  for (const name of ['a', 'b', 'c']) world.remove(`docs/${name}`);
  const removing = await passWith(world);
  expect(removing).toMatchObject({ exitCode: 3, summary: { removed: 1, problems: 2, failed: 0, kept: 0 } });
  const left = 'deleted here, but left alone on the platform: somebody else replaced it';
  expect(removing.events).toMatchObject([
    { kind: 'problem', path: 'a', key: 'a', reason: `${left} (it has no mark)` },
    { kind: 'problem', path: 'b', key: 'b', reason: `${left} (its mark names another content)` },
    { kind: 'remove', path: 'c' },
  ]);
  expect(world.status().failures).toMatchObject([
    { path: 'a', kind: 'problem' },
    { path: 'b', kind: 'problem' },
  ]);
  expect(world.remote('a')).toBe('A');
  expect(world.keys()).toEqual(['a', 'b', 'd']);
  expect(countOf(world, 'delete-file')).toBe(1);
  // It is nothing of ours any more.
  expect(await world.pass()).toMatchObject({ requests: 0, exitCode: 0, events: [], summary: { kept: 0 } });
  expect(world.status()).toMatchObject({ sources: [{ unconfirmed: 1, kept: 0 }], failures: [] });
  world.write('docs/a', 'ours');
  await world.pass();
  expect(world.remote('a')).toBe('ours');
});

test('one that was replaced under another id is left alone, and one that is gone already counts as removed', async () => {
  const world = await deletingWorld();
  await world.emulator.conditions.set({ kind: 'new-ids' });
  for (const name of ['a', 'b', 'c']) world.write(`docs/${name}`, name);
  await world.pass();
  await putAs(world, 'a', 'a', { metadata: world.emulator.listFiles('bot-1')[0]?.metadata });
  await deleteAs(world, 'b');
  for (const name of ['a', 'b']) world.remove(`docs/${name}`);
  expect(await passWith(world)).toMatchObject({
    exitCode: 3,
    summary: { removed: 1, problems: 1 },
    events: [
      { kind: 'problem', path: 'a', reason: expect.stringMatching(/it has another id/u) as unknown },
      { kind: 'remove', path: 'b' },
    ],
  });
  expect(world.keys()).toEqual(['a', 'c']);
});

test('a file that somebody else deletes after the look counts as removed', async () => {
  const world = await deletingWorld(['a', 'b']);
  world.remove('docs/a');
  const { faults } = world.emulator;
  faults.add({ operation: 'delete-file', kind: 'hang' });
  const passing = passWith(world);
  await eventually(() => Promise.resolve(countOf(world, 'delete-file') === 1), 'the deletion arrives');
  await deleteAs(world, 'a');
  const upserts = countOf(world, 'upsert');
  faults.clear();
  expect(await passing).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
  expect([world.keys(), countOf(world, 'upsert')]).toEqual([['b'], upserts]);
});

test('a deletion whose answer is lost is looked after, and counts once', async () => {
  const world = await deletingWorld(['a', 'b']);
  world.remove('docs/a');
  // The first deletion is carried out, and its answer lost.
  world.emulator.faults.add({ operation: 'delete-file', kind: 'apply-then-drop' });
  expect(await passWith(world)).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
  expect(world.keys()).toEqual(['b']);
});

test.each(['get-file', 'delete-file'])(
  'where %s is not served, removed files are let expire, which is told once',
  async (operation) => {
    const world = await deletingWorld(['a', 'b', 'c', 'd']);
    world.fail(operation, 405, { type: 'MethodNotFound', times: Infinity });
    world.remove('docs/a');
    const first = await passWith(world);
    expect(first).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
    expect(first.warned).toEqual([expect.stringMatching(/is not served, so .*expire instead/u)]);
    expect(world.emulator.listFiles('bot-1')[0]).toMatchObject({ key: 'a', size: 0, index: false });
    const asked = [countOf(world, 'get-file'), countOf(world, 'delete-file')];
    world.remove('docs/b');
    expect(await passWith(world)).toMatchObject({ exitCode: 0, summary: { removed: 1 }, warned: [] });
    expect(world.emulator.listFiles('bot-1')[1]).toMatchObject({ key: 'b', size: 0 });
    expect([countOf(world, 'get-file'), countOf(world, 'delete-file')]).toEqual(asked);
    world.emulator.faults.clear();
    world.clock.advance(86_400_000);
    world.remove('docs/c');
    expect(await passWith(world)).toMatchObject({ summary: { removed: 1 }, warned: [] });
    expect(world.keys()).toEqual(['d']);
  },
);

test('what is let expire for want of deletion, and is broken off, is deleted once that is served', async () => {
  const world = await deletingWorld(['a', 'b']);
  world.remove('docs/a');
  const { faults } = world.emulator;
  faults.add({ operation: 'delete-file', kind: 'status', status: 405 });
  faults.add({ operation: 'upload', kind: 'status', status: 500, times: Infinity });
  expect(await passWith(world)).toMatchObject({ exitCode: 3, summary: { failed: 1 } });
  expect(rowsOf(world)).toMatchObject([{ path: 'a', state: 'removing', doubt: 1 }, { path: 'b' }]);
  faults.clear();
  world.clock.advance(86_400_000);
  expect(await passWith(world)).toMatchObject({ exitCode: 0, summary: { removed: 1, problems: 0 } });
  expect(world.keys()).toEqual(['b']);
});

test('with "specified" a removed file is let expire, and nothing else is asked', async () => {
  const world = await createSyncedWorld(['a', 'b'], DELETE);
  world.remove('docs/a');
  expect(await passWith(world)).toMatchObject({ requests: 2, exitCode: 0, summary: { removed: 1 } });
  expect(world.emulator.listFiles('bot-1')[0]).toMatchObject({ key: 'a', size: 0 });
});

test('a deletion that fails is told, and made by the next pass', async () => {
  const world = await deletingWorld(['a', 'b']);
  world.remove('docs/a');
  world.fail('delete-file', 500, { times: Infinity });
  expect(await passWith(world)).toMatchObject({
    exitCode: 3,
    summary: { removed: 0, failed: 1 },
    events: [{ kind: 'remove', path: 'a', outcome: 'failed' }],
  });
  expect(rowsOf(world)).toMatchObject([
    { path: 'a', state: 'removing', expires_at: null, doubt: 0 },
    { path: 'b' },
  ]);
  expect(world.status().failures).toMatchObject([
    { path: 'a', reason: expect.stringMatching(/^cannot be removed: /u) as unknown },
  ]);
  // Meanwhile somebody replaces it: what is on record still tells.
  await putAs(world, 'a', 'A');
  world.emulator.faults.clear();
  expect(await passWith(world)).toMatchObject({ exitCode: 3, summary: { problems: 1, failed: 0 } });
  expect(world.remote('a')).toBe('A');
  expect(rowsOf(world)).toMatchObject([{ path: 'b' }]);
});

test('a file that comes back is sent again, also one whose deletion was begun', async () => {
  const world = await deletingWorld(['a', 'b', 'c']);
  for (const name of ['a', 'b']) world.move(`docs/${name}`, name);
  world.fail('delete-file', 500, { times: Infinity, key: 'b' });
  expect(await passWith(world)).toMatchObject({ summary: { removed: 1, failed: 1 } });
  for (const name of ['a', 'b']) world.move(name, `docs/${name}`);
  expect(await passWith(world)).toMatchObject({
    exitCode: 0,
    events: [
      { kind: 'upload', path: 'a', reason: 'new' },
      { kind: 'upload', path: 'b', reason: 'returned' },
    ],
  });
  expect(world.keys()).toEqual(['a', 'b', 'c']);
  expect([world.remote('a'), world.remote('b')]).toEqual(['a', 'b']);
});

test('deletions count in the guard within the hour', async () => {
  const world = await deletingWorld();
  world.configure({ removals: { mode: 'delete', maxCount: 2 } });
  for (const name of ['a', 'b', 'c', 'd']) world.write(`docs/${name}`, name);
  await world.pass();
  for (const name of ['a', 'b']) world.remove(`docs/${name}`);
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 2 } });
  world.remove('docs/c');
  expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { removed: 0, kept: 0, toRemove: 1 } });
  expect(world.keys()).toEqual(['c', 'd']);
  expect(await world.pass({ allowRemovals: true })).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
  expect(world.keys()).toEqual(['d']);
});

test.each(['as it was', 'new'])(
  'what an upsert may have left that was not recorded is deleted by the mark of its source (id: %s)',
  async (id) => {
    const world = await deletingWorld();
    if (id === 'new') await world.emulator.conditions.set({ kind: 'new-ids' });
    world.write('docs/a', 'old');
    for (const name of ['b', 'c']) world.write(`docs/${name}`, name);
    await world.pass();
    world.write('docs/a', 'new content');
    world.fail('upload', 500, { times: Infinity });
    expect(await world.pass()).toMatchObject({ exitCode: 3 });
    world.emulator.faults.clear();
    world.remove('docs/a');
    expect(await passWith(world)).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
    expect(world.keys()).toEqual(['b', 'c']);
  },
);

/** Makes a pass that a kill ends when the store has a file, and before anybody notes that. */
async function passKilledWhenStored(world: Awaited<ReturnType<typeof createWorld>>): Promise<void> {
  const platform = world.connect();
  const kill = new AbortController();
  const { signal } = kill;
  const killed: FilePlatform = {
    ...whenUpserted(platform, () => undefined),
    upload: async (...upload) => {
      await platform.upload(...upload);
      kill.abort();
      return failed({ kind: 'transient', message: 'interrupted' });
    },
  };
  expect(await world.pass({ platform: killed, stop: signal, abort: signal })).toMatchObject({
    summary: { pending: 1 },
  });
}

test.each(['', 'old'])(
  'a file without a mark that was sent when a kill came is deleted by its size (before: %j)',
  async (before) => {
    const world = await deletingWorld();
    for (const name of ['b', 'c']) world.write(`docs/${name}`, name);
    if (before !== '') world.write('docs/a', before);
    await world.pass();
    // Too large to be marked before it is sent.
    const large = 'x'.repeat(300_000);
    world.write('docs/a', large);
    await passKilledWhenStored(world);
    expect(world.remote('a')).toBe(large);
    world.remove('docs/a');
    expect(await passWith(world)).toMatchObject({ exitCode: 0, summary: { removed: 1, problems: 0 } });
    expect(world.keys()).toEqual(['b', 'c']);
  },
);

test('a file without a mark is deleted by its size also if nothing of what was sent in its place has arrived', async () => {
  const world = await deletingWorld();
  for (const name of ['b', 'c']) world.write(`docs/${name}`, name);
  // Too large to be marked before it is sent.
  const large = 'x'.repeat(300_000);
  world.write('docs/a', large);
  await world.pass();
  const platform = world.connect();
  const refusing: FilePlatform = {
    ...whenUpserted(platform, () => undefined),
    upsert: () => Promise.resolve(failed({ kind: 'refused', message: 'no' })),
  };
  for (const content of ['small', 'smell']) {
    world.write('docs/a', content);
    expect(await world.pass({ platform: refusing })).toMatchObject({ summary: { uploaded: 0, failed: 1 } });
  }
  expect(world.remote('a')).toBe(large);
  world.remove('docs/a');
  expect(await passWith(world)).toMatchObject({ exitCode: 0, summary: { removed: 1, problems: 0 } });
  expect(world.keys()).toEqual(['b', 'c']);
});

test('a change of the mode in the midst of a removal leaves nothing behind', async () => {
  const world = await deletingWorld(['a', 'b', 'c']);
  world.configure({ removals: { mode: 'expire' } });
  world.fail('upload', 500, { times: Infinity });
  world.remove('docs/a');
  expect(await passWith(world)).toMatchObject({ summary: { failed: 1 } });
  world.emulator.faults.clear();
  world.configure(DELETE);
  expect(await passWith(world)).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
  expect(world.keys()).toEqual(['b', 'c']);
});
