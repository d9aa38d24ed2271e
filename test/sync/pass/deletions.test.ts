import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { failed } from '../../../src/domain/failure.ts';
import type { FilePlatform } from '../../../src/domain/file-catalog.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import { eventually } from '../../files/watch-fixture.ts';
import { whenUpserted } from '../../when-upserted.ts';
import { replace } from '../replace.ts';
import { connectTo, createWorld, type PassOutcome, type World } from '../world.ts';

const DELETE = { removals: { mode: 'delete' } };

/** A world that deletes, and asks what is there. `platform`: fields of that block. */
async function deletingWorld(
  platform: Record<string, unknown> = {},
  options: Partial<EmulatorOptions> = {},
): Promise<Awaited<ReturnType<typeof createWorld>>> {
  const world = await createWorld(DELETE, options);
  const { baseUrl } = world.emulator;
  world.configure({ platform: { botId: 'bot-1', baseUrl, operations: 'auto', ...platform } });
  return world;
}

function remove(world: World, path: string): void {
  rmSync(join(world.directory, path), { recursive: true });
}

/** A pass, with what it told in path order: files are removed side by side. */
async function passWith(world: World): Promise<PassOutcome> {
  const outcome = await world.pass();
  return { ...outcome, events: outcome.events.toSorted((one, other) => (one.path < other.path ? -1 : 1)) };
}

/** Rows of the state file, in path order. */
function rowsOf(world: World): unknown[] {
  const database = new DatabaseSync(world.config().stateFile, { readOnly: true });
  const rows: unknown[] = database
    .prepare('SELECT path, state, failure, expires_at, sha256 IS NULL AS doubt FROM file ORDER BY path')
    .all();
  database.close();
  return rows;
}

/** Requests that were seen of one operation. */
const countOf = ({ emulator }: World, operation: string): number => emulator.counts.get(operation) ?? 0;

test('a removed file is deleted at once, and its row with it', async () => {
  const world = await deletingWorld();
  world.write('docs/a.md', 'a');
  world.write('docs/b/c d.md', 'b');
  await world.pass();
  remove(world, 'docs/b');
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
  const world = await deletingWorld(platform);
  for (const name of ['a', 'b', 'c']) world.write(`docs/${name}`, Buffer.alloc(300_000, name));
  await world.pass();
  await replace(world, 'b', 'of another size');
  for (const name of ['a', 'b']) remove(world, `docs/${name}`);
  const removing = await passWith(world);
  expect(removing).toMatchObject({ exitCode: 3, summary: { removed: 1, problems: 1 } });
  expect(world.keys()).toEqual(['b', 'c']);
});

test('a file that somebody replaced is left alone, which is told once', async () => {
  const world = await deletingWorld();
  for (const name of ['a', 'b', 'c', 'd']) world.write(`docs/${name}`, name);
  await world.pass();
  // As large as ours, and without its mark.
  await replace(world, 'a', 'A');
  await replace(world, 'b', 'b', { botsync: { v: 1, sha256: 'f'.repeat(64), source: 'docs' } });
  for (const name of ['a', 'b', 'c']) remove(world, `docs/${name}`);
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
  await replace(world, 'a', 'a', world.emulator.listFiles('bot-1')[0]?.metadata);
  const { baseUrl, token } = world.emulator;
  const headers = { authorization: `Bearer ${token}`, 'x-bot-id': 'bot-1' };
  await fetch(`${baseUrl}/v1/files/b`, { method: 'DELETE', headers });
  for (const name of ['a', 'b']) remove(world, `docs/${name}`);
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
  const world = await deletingWorld();
  for (const name of ['a', 'b']) world.write(`docs/${name}`, name);
  await world.pass();
  remove(world, 'docs/a');
  const { faults, baseUrl, token } = world.emulator;
  faults.add({ operation: 'delete-file', kind: 'hang' });
  const passing = passWith(world);
  await eventually(() => Promise.resolve(countOf(world, 'delete-file') === 1), 'the deletion arrives');
  const headers = { authorization: `Bearer ${token}`, 'x-bot-id': 'bot-1' };
  expect(await fetch(`${baseUrl}/v1/files/a`, { method: 'DELETE', headers })).toMatchObject({ ok: true });
  const upserts = countOf(world, 'upsert');
  faults.clear();
  expect(await passing).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
  expect([world.keys(), countOf(world, 'upsert')]).toEqual([['b'], upserts]);
});

test('a deletion whose answer is lost is looked after, and counts once', async () => {
  const world = await deletingWorld();
  for (const name of ['a', 'b']) world.write(`docs/${name}`, name);
  await world.pass();
  remove(world, 'docs/a');
  // The first deletion is carried out, and its answer lost.
  world.emulator.faults.add({ operation: 'delete-file', kind: 'apply-then-drop' });
  expect(await passWith(world)).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
  expect(world.keys()).toEqual(['b']);
});

test.each(['get-file', 'delete-file'])(
  'where %s is not served, removed files are let expire, which is told once',
  async (operation) => {
    const world = await deletingWorld();
    for (const name of ['a', 'b', 'c', 'd']) world.write(`docs/${name}`, name);
    await world.pass();
    world.emulator.faults.add({
      operation,
      kind: 'status',
      status: 405,
      type: 'MethodNotFound',
      times: Infinity,
    });
    remove(world, 'docs/a');
    const first = await passWith(world);
    expect(first).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
    expect(first.warned).toEqual([expect.stringMatching(/is not served, so .*expire instead/u)]);
    expect(world.emulator.listFiles('bot-1')[0]).toMatchObject({ key: 'a', size: 0, index: false });
    const asked = [countOf(world, 'get-file'), countOf(world, 'delete-file')];
    remove(world, 'docs/b');
    expect(await passWith(world)).toMatchObject({ exitCode: 0, summary: { removed: 1 }, warned: [] });
    expect(world.emulator.listFiles('bot-1')[1]).toMatchObject({ key: 'b', size: 0 });
    expect([countOf(world, 'get-file'), countOf(world, 'delete-file')]).toEqual(asked);
    world.emulator.faults.clear();
    world.clock.advance(86_400_000);
    remove(world, 'docs/c');
    expect(await passWith(world)).toMatchObject({ summary: { removed: 1 }, warned: [] });
    expect(world.keys()).toEqual(['d']);
  },
);

test('what is let expire for want of deletion, and is broken off, is deleted once that is served', async () => {
  const world = await deletingWorld();
  for (const name of ['a', 'b']) world.write(`docs/${name}`, name);
  await world.pass();
  remove(world, 'docs/a');
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
  const world = await createWorld(DELETE);
  for (const name of ['a', 'b']) world.write(`docs/${name}`, name);
  await world.pass();
  remove(world, 'docs/a');
  expect(await passWith(world)).toMatchObject({ requests: 2, exitCode: 0, summary: { removed: 1 } });
  expect(world.emulator.listFiles('bot-1')[0]).toMatchObject({ key: 'a', size: 0 });
});

test('a deletion that fails is told, and made by the next pass', async () => {
  const world = await deletingWorld();
  for (const name of ['a', 'b']) world.write(`docs/${name}`, name);
  await world.pass();
  remove(world, 'docs/a');
  world.emulator.faults.add({ operation: 'delete-file', kind: 'status', status: 500, times: Infinity });
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
  await replace(world, 'a', 'A');
  world.emulator.faults.clear();
  expect(await passWith(world)).toMatchObject({ exitCode: 3, summary: { problems: 1, failed: 0 } });
  expect(world.remote('a')).toBe('A');
  expect(rowsOf(world)).toMatchObject([{ path: 'b' }]);
});

test.each([
  ['no JSON', { kind: 'garbage' }],
  ['nothing', { kind: 'status', status: 200, body: '' }],
  ['a list', { kind: 'body', body: [] }],
] as const)('a deletion that is answered with %s is none', async (_what, fault) => {
  const world = await deletingWorld();
  for (const name of ['a', 'b']) world.write(`docs/${name}`, name);
  await world.pass();
  remove(world, 'docs/a');
  world.emulator.faults.add({ operation: 'delete-file', times: Infinity, ...fault });
  expect(await passWith(world)).toMatchObject({ exitCode: 3, summary: { removed: 0, failed: 1 } });
  world.emulator.faults.clear();
  expect(await passWith(world)).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
  expect(world.keys()).toEqual(['b']);
});

test('a file that comes back is sent again, also one whose deletion was begun', async () => {
  const world = await deletingWorld();
  for (const name of ['a', 'b', 'c']) world.write(`docs/${name}`, name);
  await world.pass();
  for (const name of ['a', 'b']) renameSync(join(world.directory, 'docs', name), join(world.directory, name));
  world.emulator.faults.add({
    operation: 'delete-file',
    kind: 'status',
    status: 500,
    times: Infinity,
    key: 'b',
  });
  expect(await passWith(world)).toMatchObject({ summary: { removed: 1, failed: 1 } });
  for (const name of ['a', 'b']) renameSync(join(world.directory, name), join(world.directory, 'docs', name));
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
  for (const name of ['a', 'b']) remove(world, `docs/${name}`);
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { removed: 2 } });
  remove(world, 'docs/c');
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
    world.emulator.faults.add({ operation: 'upload', kind: 'status', status: 500, times: Infinity });
    expect(await world.pass()).toMatchObject({ exitCode: 3 });
    world.emulator.faults.clear();
    remove(world, 'docs/a');
    expect(await passWith(world)).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
    expect(world.keys()).toEqual(['b', 'c']);
  },
);

/** Makes a pass that a kill ends when the store has a file, and before anybody notes that. */
async function passKilledWhenStored(world: Awaited<ReturnType<typeof createWorld>>): Promise<void> {
  const { platform, close } = connectTo(world.emulator, world.config(), world.clock);
  onTestFinished(close);
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
    remove(world, 'docs/a');
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
  const { platform, close } = connectTo(world.emulator, world.config(), world.clock);
  onTestFinished(close);
  const refusing: FilePlatform = {
    ...whenUpserted(platform, () => undefined),
    upsert: () => Promise.resolve(failed({ kind: 'refused', message: 'no' })),
  };
  for (const content of ['small', 'smell']) {
    world.write('docs/a', content);
    expect(await world.pass({ platform: refusing })).toMatchObject({ summary: { uploaded: 0, failed: 1 } });
  }
  expect(world.remote('a')).toBe(large);
  remove(world, 'docs/a');
  expect(await passWith(world)).toMatchObject({ exitCode: 0, summary: { removed: 1, problems: 0 } });
  expect(world.keys()).toEqual(['b', 'c']);
});

test('a change of the mode in the midst of a removal leaves nothing behind', async () => {
  const world = await deletingWorld();
  for (const name of ['a', 'b', 'c']) world.write(`docs/${name}`, name);
  await world.pass();
  world.configure({ removals: { mode: 'expire' } });
  world.emulator.faults.add({ operation: 'upload', kind: 'status', status: 500, times: Infinity });
  remove(world, 'docs/a');
  expect(await passWith(world)).toMatchObject({ summary: { failed: 1 } });
  world.emulator.faults.clear();
  world.configure(DELETE);
  expect(await passWith(world)).toMatchObject({ exitCode: 0, summary: { removed: 1 } });
  expect(world.keys()).toEqual(['b', 'c']);
});
