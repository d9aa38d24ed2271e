import { linkSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fingerprintOf } from '../../../src/domain/fingerprint.ts';
import type { FileEvent } from '../../../src/domain/report.ts';
import { createSyncedWorld, createWorld } from '../world.ts';

test('what is in the source is on the platform, and a second pass sends no request at all', async () => {
  const world = await createWorld({ sources: [{ directory: './docs', keyPrefix: 'kb/' }] });
  world.write('docs/a.md', 'alpha');
  world.write('docs/sub dir/é.txt', 'beta');
  world.write('docs/empty', '');
  const first = await world.pass();
  expect(first).toMatchObject({ exitCode: 0, summary: { uploaded: 3, unchanged: 0, bytes: 9 } });
  expect(world.keys()).toEqual(['kb/a.md', 'kb/empty', 'kb/sub dir/é.txt']);
  expect(world.remote('kb/sub dir/é.txt')).toBe('beta');
  expect(world.remote('kb/empty')).toBe('');
  expect(await world.pass()).toMatchObject({
    exitCode: 0,
    requests: 0,
    events: [],
    summary: { uploaded: 0, unchanged: 3 },
  });
});

test('a changed file is sent again, alone', async () => {
  const world = await createWorld();
  world.write('docs/a', 'one');
  world.write('docs/b', 'two');
  await world.pass();
  world.write('docs/a', 'three');
  const again = await world.pass();
  expect(again.events).toEqual([
    { kind: 'upload', source: 'docs', path: 'a', key: 'a', reason: 'changed', outcome: 'done' },
  ]);
  expect(again).toMatchObject({ requests: 2, summary: { uploaded: 1, unchanged: 1 } });
  expect(world.remote('a')).toBe('three');
});

test('a file that was touched but not changed is hashed and not sent; the next pass need not hash it', async () => {
  const world = await createWorld();
  world.write('docs/a', 'content');
  await world.pass();
  utimesSync(world.at('docs/a'), 1, 1);
  expect(await world.pass()).toMatchObject({ requests: 0, summary: { unchanged: 1, uploaded: 0 } });
  expect((await world.plan()).summary.unchanged).toBe(1);
});

test('an edit that keeps size and mtime is found', async () => {
  const world = await createWorld();
  world.write('docs/a', 'before');
  const file = world.at('docs/a');
  utimesSync(file, 5, 5);
  await world.pass();
  writeFileSync(file, 'after!');
  utimesSync(file, 5, 5);
  expect(await world.pass()).toMatchObject({ summary: { uploaded: 1 } });
  expect(world.remote('a')).toBe('after!');
});

test('a file replaced by another of the same size and times, by rename, is found', async () => {
  const world = await createWorld();
  world.write('docs/a', 'before');
  world.write('other', 'after!');
  const file = world.at('docs/a');
  utimesSync(file, 5, 5);
  utimesSync(world.at('other'), 5, 5);
  await world.pass();
  renameSync(world.at('other'), file);
  expect(await world.pass()).toMatchObject({ summary: { uploaded: 1 } });
  expect(world.remote('a')).toBe('after!');
});

test('a file written within two seconds of its reading is not trusted: an edit that left no other trace is found', async () => {
  const world = await createWorld();
  // Now the files are as young as the clock says.
  world.clock.advance(-60_000);
  world.write('docs/a', 'before');
  await world.pass();
  world.write('docs/a', 'after!');
  // What an edit within the same tick of the file system's clock looks like: the record has the file's very facts.
  const facts = fingerprintOf(statSync(world.at('docs/a'), { bigint: true }));
  world.sql('UPDATE file SET fingerprint = ?', facts);
  expect(await world.pass()).toMatchObject({ summary: { uploaded: 1 } });
  expect(world.remote('a')).toBe('after!');
  // Once it has been at rest it is hashed one last time, and then trusted.
  world.clock.advance(60_000);
  expect(await world.pass()).toMatchObject({ requests: 0, summary: { unchanged: 1 } });
  expect(world.sql('SELECT trusted FROM file')).toMatchObject([{ trusted: 1 }]);
});

test('a changed rule sends exactly the files whose settings it changes', async () => {
  const world = await createWorld({ rules: [{ match: '*.md', tags: { kind: 'text' } }] });
  world.write('docs/a.md', 'a');
  world.write('docs/b.txt', 'b');
  world.write('docs/sub/c.md', 'c');
  await world.pass();
  world.configure({
    rules: [
      { match: '*.md', tags: { kind: 'text' } },
      { match: 'sub/**', tags: { part: 'sub' } },
      // Says nothing that the platform is told.
      { match: '*.txt', whenTooLargeToIndex: 'skip' },
    ],
  });
  const again = await world.pass();
  expect(again.events.map(({ path, reason }) => [path, reason])).toEqual([['sub/c.md', 'settings-changed']]);
  expect(world.emulator.listFiles('bot-1').find(({ key }) => key === 'sub/c.md')?.tags).toEqual({
    kind: 'text',
    part: 'sub',
  });
});

test('tags that a rule no longer gives are gone from the platform', async () => {
  const world = await createSyncedWorld(['a'], {
    rules: [{ match: '**', tags: { old: 'x' }, metadata: { m: 1 } }],
  });
  world.configure({ rules: [] });
  await world.pass();
  expect(world.emulator.listFiles('bot-1')[0]).toMatchObject({ tags: {}, metadata: {} });
});

test.each([
  ['another bot', { botId: 'bot-2' }],
  ['another identity', { identity: { integrationId: 'int-1' } }],
])('for %s nothing is on record, and going back finds the old records', async (_what, platform) => {
  const world = await createSyncedWorld(['a']);
  world.configure({ platform });
  expect(await world.pass()).toMatchObject({ summary: { uploaded: 1 } });
  world.configure({ platform: {} });
  expect(await world.pass()).toMatchObject({ requests: 0, summary: { unchanged: 1 } });
});

test('at another address nothing is on record, and going back finds the old records', async () => {
  const world = await createWorld({}, { token: 'of-both' });
  const other = await createWorld({}, { token: 'of-both' });
  world.write('docs/a', 'a');
  await world.pass();
  world.configure({ platform: { baseUrl: other.emulator.baseUrl } });
  expect(await world.pass()).toMatchObject({ summary: { uploaded: 1 } });
  expect(other.remote('a')).toBe('a');
  world.configure({ platform: {} });
  expect(await world.pass()).toMatchObject({ requests: 0, summary: { unchanged: 1 } });
});

test('a source that got another name, or another directory with the same files, sends nothing again', async () => {
  const world = await createWorld({ sources: [{ name: 'old', directory: './docs', keyPrefix: 'k/' }] });
  world.write('docs/a', 'a');
  world.write('docs/b/c', 'c');
  await world.pass();
  world.configure({ sources: [{ name: 'new', directory: './docs', keyPrefix: 'k/' }] });
  expect(await world.pass()).toMatchObject({ requests: 0, exitCode: 0, summary: { unchanged: 2, kept: 0 } });
  world.move('docs', 'moved');
  world.configure({ sources: [{ name: 'newer', directory: './moved', keyPrefix: 'k/' }] });
  expect(await world.pass()).toMatchObject({ requests: 0, exitCode: 0, summary: { unchanged: 2, kept: 0 } });
  expect(world.status().sources).toMatchObject([{ name: 'newer', files: 2, kept: 0 }]);
});

test('a file that is a hard link to another is a file of its own', async () => {
  const world = await createWorld();
  world.write('docs/a', 'same');
  linkSync(world.at('docs/a'), world.at('docs/b'));
  await world.pass();
  expect(world.keys()).toEqual(['a', 'b']);
  expect(await world.pass()).toMatchObject({ requests: 0, summary: { unchanged: 2 } });
});

test('--force sends again what matches, whatever the records say', async () => {
  const world = await createWorld();
  world.write('docs/a.md', 'a');
  world.write('docs/b.txt', 'b');
  await world.pass();
  const forced = await world.pass({ isForced: (path) => path.endsWith('.md') });
  expect(forced.events.map(({ path, reason }) => [path, reason])).toEqual([['a.md', 'forced']]);
});

test('a file that vanishes between plan and sending is no failure and leaves no record', async () => {
  const world = await createWorld({ upload: { concurrency: 1 } });
  world.write('docs/a', 'a');
  world.write('docs/b', 'b');
  world.fail('upsert', 500);
  const { sleep } = world.clock;
  const clock = {
    now: world.clock.now,
    monotonic: world.clock.monotonic,
    sleep: async (ms: number) => {
      rmSync(world.at('docs/a'), { force: true });
      await sleep(ms);
    },
  };
  const outcome = await world.pass({ clock });
  expect(outcome).toMatchObject({ exitCode: 0, summary: { uploaded: 1, failed: 0 } });
  // Whether the failed upsert left something on the platform is not known, so it is remembered, until the next pass.
  await world.pass();
  expect(world.status()).toMatchObject({ failures: [], sources: [{ files: 1, kept: 1 }] });
});

test('what a pass that died said of files is gone with the next', async () => {
  const world = await createWorld({
    rules: [{ match: 'far.md', expiresAt: new Date(Date.now() + 95 * 86_400_000).toISOString() }],
  });
  world.write('docs/far.md', 'far');
  world.write('docs/z.md', 'z');
  const dies = {
    event: ({ kind }: FileEvent): void => {
      if (kind === 'upload') throw new Error('died');
    },
  };
  await expect(world.pass({ report: dies })).rejects.toThrow('died');
  expect(world.status().failures).toMatchObject([{ path: 'far.md' }]);
  world.remove('docs/far.md');
  expect(await world.pass()).toMatchObject({ exitCode: 0 });
  expect(world.status().failures).toEqual([]);
});
