import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createWorld } from '../world.ts';

const NFC = 'caf\u00e9.md';
const NFD = 'cafe\u0301.md';

test('names are NFC in keys, whatever the file system has', async () => {
  const world = await createWorld();
  world.write(`docs/${NFD}`, 'x');
  await world.pass();
  expect(world.keys()).toEqual([NFC]);
  expect(await world.pass()).toMatchObject({ requests: 0, summary: { unchanged: 1 } });
});

test('a name with a backslash is refused before anything is sent, also by a dry run', async () => {
  const world = await createWorld();
  world.write('docs/a\\b.md', 'x');
  const refused = { kind: 'refuse', path: 'a\\b.md', reason: expect.stringContaining('backslash') as string };
  expect(await world.plan()).toMatchObject({ exitCode: 3, events: [refused] });
  expect(await world.pass()).toMatchObject({ exitCode: 3, requests: 0, events: [refused] });
});

test('of NFC and NFD twins the first in path order is uploaded, the other is a problem that names both', async () => {
  const world = await createWorld();
  world.write(`docs/${NFC}`, 'composed');
  world.write(`docs/${NFD}`, 'decomposed');
  const first = await world.pass();
  expect(first).toMatchObject({ exitCode: 3, summary: { uploaded: 1, problems: 1 } });
  expect(world.remote(NFC)).toBe('decomposed');
  const problem = first.events.find(({ kind }) => kind === 'problem');
  expect(problem).toMatchObject({ path: NFC, key: NFC });
  expect(problem?.reason).toContain(`docs/${NFD}`);
  expect(await world.pass()).toMatchObject({
    requests: 0,
    exitCode: 3,
    summary: { unchanged: 1, problems: 1 },
  });
  expect(await world.plan()).toMatchObject({ exitCode: 3, summary: { unchanged: 1, problems: 1 } });
});

test('a dry run before anything is recorded finds twins as well', async () => {
  const world = await createWorld();
  world.write(`docs/${NFC}`, 'composed');
  world.write(`docs/${NFD}`, 'decomposed');
  expect(await world.plan()).toMatchObject({ exitCode: 3, summary: { uploaded: 1, problems: 1 } });
});

test('twins that are refused are not in each other’s way', async () => {
  const world = await createWorld({
    rules: [{ match: '**', expiresAt: new Date(Date.now() + 200 * 86_400_000).toISOString() }],
  });
  world.write('docs/e\u0301.md', 'NFD');
  world.write('docs/\u00e9.md', 'NFC');
  const kinds = ({ events }: { events: readonly { kind: string }[] }): string[] =>
    events.map(({ kind }) => kind);
  expect(kinds(await world.plan())).toEqual(['refuse', 'refuse']);
  expect(kinds(await world.pass())).toEqual(['refuse', 'refuse']);
});

test('a twin that comes later but stands first takes the key over; when it goes, the other has it again', async () => {
  const world = await createWorld();
  world.write(`docs/${NFC}`, 'composed');
  await world.pass();
  world.write(`docs/${NFD}`, 'decomposed');
  expect(await world.pass()).toMatchObject({
    exitCode: 3,
    summary: { uploaded: 1, problems: 1, unchanged: 0 },
  });
  expect(world.remote(NFC)).toBe('decomposed');
  expect(await world.pass()).toMatchObject({ requests: 0, exitCode: 3 });
  world.remove(`docs/${NFD}`);
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 1, problems: 0 } });
  expect(world.remote(NFC)).toBe('composed');
});

test('a file renamed between NFC and NFD is the same file: nothing is sent, nothing removed', async () => {
  const world = await createWorld({ removals: { mode: 'expire' } });
  world.write(`docs/${NFC}`, 'x');
  world.write('docs/other', 'o');
  await world.pass();
  world.move(`docs/${NFC}`, `docs/${NFD}`);
  expect(await world.pass()).toMatchObject({
    requests: 0,
    exitCode: 0,
    summary: { unchanged: 2, removed: 0 },
  });
  expect(await world.pass()).toMatchObject({ requests: 0, exitCode: 0, summary: { unchanged: 2 } });
});

test('of two sources that give one key the earlier in the config keeps it', async () => {
  const world = await createWorld({ sources: [{ directory: './docs' }, { directory: './more' }] });
  world.write('more/a', 'from more');
  expect(await world.pass()).toMatchObject({ exitCode: 0 });
  world.write('docs/a', 'from docs');
  const taken = await world.pass();
  expect(taken).toMatchObject({ exitCode: 3, summary: { uploaded: 1, problems: 1 } });
  expect(taken.events.find(({ kind }) => kind === 'problem')).toMatchObject({ source: 'more', path: 'a' });
  expect(world.remote('a')).toBe('from docs');
  expect(await world.pass()).toMatchObject({ requests: 0, exitCode: 3 });
  world.remove('docs/a');
  world.write('docs/b', 'b');
  expect(await world.pass()).toMatchObject({ exitCode: 0 });
  expect(world.remote('a')).toBe('from more');
});

test.each([
  ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
  [
    'a link that is not followed',
    (path: string) => {
      symlinkSync('/etc/hostname', path);
    },
  ],
])('a file whose place %s has taken does not keep its key from another', async (_what, place) => {
  const world = await createWorld({
    sources: [
      { directory: './docs', name: 'docs' },
      { directory: './more', name: 'more' },
    ],
  });
  world.write('docs/first.txt', '1');
  for (const name of ['docs', 'more']) world.write(`${name}/x.txt`, `of ${name}`);
  expect((await world.pass()).exitCode).toBe(3);
  world.remove('docs/x.txt');
  place(world.at('docs/x.txt'));
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 1, problems: 0 } });
  expect(world.remote('x.txt')).toBe('of more');
});

test('the same key for different bots is no collision', async () => {
  const world = await createWorld({
    sources: [{ directory: './docs' }, { directory: './more', botId: 'bot-2' }],
  });
  world.write('docs/a', 'one');
  world.write('more/a', 'two');
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 2 } });
  expect([world.remote('a', 'bot-1'), world.remote('a', 'bot-2')]).toEqual(['one', 'two']);
});

test('a name that is not valid UTF-8 is a problem and is not sent under a guess', async () => {
  const world = await createWorld();
  world.write('docs/fine', 'x');
  writeFileSync(Buffer.concat([Buffer.from(world.at('docs/bad-')), Buffer.from([0xff, 0xfe])]), 'y');
  const outcome = await world.pass();
  expect(outcome).toMatchObject({ exitCode: 3, summary: { uploaded: 1, problems: 1 } });
  expect(outcome.events.find(({ kind }) => kind === 'problem')).toMatchObject({
    path: 'bad-\\xff\\xfe',
    key: null,
  });
  expect(world.keys()).toEqual(['fine']);
});

test('the config, the state file with its companions and secrets are never synced, whatever the patterns say', async () => {
  const world = await createWorld({
    sources: [{ directory: '.', name: 'all', ignore: ['!.botsync/', '!.botsync/**', 'platform/'] }],
    platform: {
      token: 'file:./secret/token',
      chat: { webhookId: 'w', userKey: 'file:./secret/user-key' },
    },
  });
  world.write('secret/token', 'very secret');
  world.write('secret/user-key', 'very secret');
  world.write('secret/note', 'not secret');
  // SQLite's own beside the state file are there by themselves.
  for (const companion of ['.lock', '.lock-journal', '.lock.json', '.socket', '.probe', '.damaged-2026-wal'])
    world.write(`.botsync/state.db${companion}`, 'ours');
  world.write('.botsync/state.db-notes', 'not ours');
  world.write('botsync.config.json', '{}');
  world.write('.botsync/note', 'taken back in');
  await world.pass();
  await world.pass();
  expect(world.keys()).toEqual(['.botsync/note', '.botsync/state.db-notes', 'secret/note']);
});
