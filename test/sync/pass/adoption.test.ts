import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Emulator } from '../../../src/emulator/emulator.ts';
import { createSyncedWorld, createWorld, numbered, type World } from '../world.ts';

/** What was asked of the platform since it was forgotten, by operation. */
function askedSince(emulator: Emulator, before: ReadonlyMap<string, number>): Record<string, number> {
  const now = [...emulator.counts].map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const);
  return Object.fromEntries(now.filter(([, count]) => count > 0));
}

function countsOf(emulator: Emulator): ReadonlyMap<string, number> {
  return new Map(emulator.counts);
}

function loseState(world: World): void {
  world.remove('.botsync');
}

const RULES = [
  { match: '**', tags: { kind: 'manual' }, metadata: { team: ['a'] }, accessPolicies: ['public_content'] },
];

describe('with a new state file', () => {
  test('what the platform has is taken over, and nothing is sent', async () => {
    const world = await createWorld({ platform: { operations: 'auto' }, rules: RULES });
    for (let n = 0; n < 120; n += 1) world.write(`docs/${n}.txt`, `content ${n}`);
    world.write('docs/é/large', randomBytes(200_000));
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 121, adopted: 0 } });
    loseState(world);
    const before = countsOf(world.emulator);
    const again = await world.pass();
    expect(again).toMatchObject({
      exitCode: 0,
      summary: { uploaded: 0, adopted: 121, overwritten: 0, bytes: 0 },
    });
    expect(askedSince(world.emulator, before)).toEqual({ 'list-files': 2 });
    expect(again.events[0]).toEqual({
      kind: 'adopt',
      source: 'docs',
      path: '0.txt',
      key: '0.txt',
      reason: 'on the platform already',
      outcome: 'done',
    });
    const third = await world.pass();
    expect(third).toMatchObject({ requests: 0, summary: { unchanged: 121, adopted: 0 } });
  });

  test('what was sent from a source of another name is taken over, without a request for each file', async () => {
    const sources = (name: string): unknown => [{ name, directory: './docs', keyPrefix: '' }];
    const world = await createWorld({ platform: { operations: 'auto' }, sources: sources('docs') });
    for (let n = 0; n < 20; n += 1) world.write(`docs/${n}.txt`, `content ${n}`);
    await world.pass();
    loseState(world);
    world.configure({ sources: sources('news') });
    const before = countsOf(world.emulator);
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 0, adopted: 20 } });
    expect(askedSince(world.emulator, before)).toEqual({ 'list-files': 1 });
  });

  test('a file with another content, of the same size, is sent', async () => {
    const world = await createWorld({ platform: { operations: 'auto' } });
    world.write('docs/a', 'one');
    world.write('docs/b', 'two');
    await world.pass();
    loseState(world);
    world.write('docs/a', 'eno');
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 1, adopted: 1 } });
    expect(world.remote('a')).toBe('eno');
  });

  test('a file whose content never arrived is sent, though its entry has the mark', async () => {
    const world = await createWorld({ platform: { operations: 'auto' } });
    world.write('docs/a', 'one');
    world.fail('upload', 400);
    expect(await world.pass()).toMatchObject({ exitCode: 3, summary: { failed: 1 } });
    loseState(world);
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 1, adopted: 0 } });
    expect(world.remote('a')).toBe('one');
  });

  test('where only facts differ they are told, without content', async () => {
    const world = await createWorld({ platform: { operations: 'auto' }, rules: RULES });
    world.write('docs/a', 'one');
    await world.pass();
    loseState(world);
    world.configure({ rules: [{ match: '**', tags: { kind: 'letter' }, expiresIn: '30d' }] });
    const before = countsOf(world.emulator);
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 0, adopted: 1, bytes: 0 } });
    expect(askedSince(world.emulator, before)).toEqual({ 'list-files': 1, 'update-file': 1 });
    expect(world.emulator.listFiles('bot-1')).toMatchObject([
      { tags: { kind: 'letter' }, accessPolicies: [], expiresAt: expect.any(String) as string },
    ]);
    expect(await world.pass()).toMatchObject({ requests: 0, summary: { unchanged: 1 } });
  });

  test('a file that is to be indexed from now on is sent', async () => {
    const world = await createWorld({ platform: { operations: 'auto' } });
    world.write('docs/a.txt', 'one');
    await world.pass();
    loseState(world);
    world.configure({ rules: [{ match: '**', index: true }] });
    expect(await world.pass()).toMatchObject({ summary: { uploaded: 1, adopted: 0, overwritten: 0 } });
  });

  test('what somebody else put under a key is sent over, counted, and planned so', async () => {
    const world = await createWorld({ platform: { mark: false } });
    world.write('docs/a', 'one');
    await world.pass();
    loseState(world);
    world.configure({ platform: { operations: 'auto' } });
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 1, overwritten: 1 } });
  });

  test('a list that fails sends everything, and says so', async () => {
    const world = await createWorld({ platform: { operations: 'auto' } });
    world.write('docs/a', 'one');
    await world.pass();
    loseState(world);
    world.fail('list-files', 500, { times: Infinity });
    const outcome = await world.pass();
    expect(outcome).toMatchObject({ exitCode: 0, summary: { uploaded: 1, adopted: 0 } });
    expect(outcome.warned).toEqual([
      expect.stringMatching(/^bot bot-1: its files cannot be listed, so files .* 500/u),
    ]);
  });

  test('a platform that serves no list is asked once', async () => {
    const world = await createWorld({ platform: { operations: 'auto' } }, { operations: 'specified' });
    world.write('docs/a', 'one');
    const before = countsOf(world.emulator);
    await world.pass();
    await world.pass();
    expect(askedSince(world.emulator, before)).toMatchObject({ upsert: 1, upload: 1 });
    expect(world.emulator.requests.filter(({ method }) => method === 'GET')).toHaveLength(1);
  });

  test('with --force everything is sent', async () => {
    const world = await createWorld({ platform: { operations: 'auto' } });
    world.write('docs/a', 'one');
    await world.pass();
    loseState(world);
    expect(await world.pass({ isForced: () => true })).toMatchObject({
      summary: { uploaded: 1, adopted: 0 },
    });
  });

  test('with platform.mark off nothing is marked, and nothing is looked for', async () => {
    const world = await createWorld({ platform: { operations: 'auto', mark: false } });
    world.write('docs/a', 'one');
    await world.pass();
    expect(world.emulator.listFiles('bot-1')).toMatchObject([{ metadata: {} }]);
    loseState(world);
    expect(await world.pass()).toMatchObject({ requests: 2, summary: { uploaded: 1 } });
  });
});

test('a pass that is stopped while it takes over goes on taking over', async () => {
  const world = await createSyncedWorld(numbered(300), { platform: { operations: 'auto' } });
  loseState(world);
  const stopping = new AbortController();
  let seen = 0;
  const report = {
    event: () => {
      seen += 1;
      if (seen === 5) stopping.abort();
    },
  };
  const cut = await world.pass({ report, stop: stopping.signal });
  expect(cut.summary.adopted).toBeGreaterThanOrEqual(5);
  expect(cut.summary.adopted).toBeLessThan(300);
  const rest = await world.pass();
  expect(rest).toMatchObject({ exitCode: 0, summary: { uploaded: 0, bytes: 0 } });
  expect(rest.summary.adopted + rest.summary.unchanged).toBe(300);
});

test('a source that was taken over, and one that is empty, are not looked for again', async () => {
  const world = await createWorld({ platform: { operations: 'auto' } });
  expect((await world.pass()).requests).toBe(1);
  expect((await world.pass()).requests).toBe(0);
});
