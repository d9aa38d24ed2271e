import { chmodSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { start as startOwn } from '../emulator/fixture.ts';
import { run, type Ended } from './binary.ts';
import { createChatSite, type ChatSite } from './chat-site.ts';

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly fix: string | null;
}

/** What doctor finds, and how it ends. */
async function examine(
  site: ChatSite,
  ...args: string[]
): Promise<{ code: number | null; found: Finding[] }> {
  const outcome = await site.botsync('doctor', '--json', ...args);
  expect(outcome.stderr).toBe('');
  return { code: outcome.code, found: outcome.lines()[0] as unknown as Finding[] };
}

/** Whether the version of Node that runs the tests is supported depends on the day. */
function standing(found: readonly Finding[]): string[] {
  expect(found[0]?.check).toBe('node');
  return found.slice(1).map(({ check, status }) => `${check} ${status}`);
}

const ALL_WELL = [
  ...['config ok', 'secrets ok', 'secrets ok', 'token ok', 'bots ok', 'clock ok', 'operations ok'],
  ...['usage ok', 'usage ok', 'usage ok', 'usage ok'],
  ...['directories ok', 'watches ok', 'state ok', 'disk ok'],
];

test('doctor finds all well, a line each, names bots, and writes nothing', async () => {
  const site = await createChatSite();
  site.write('docs/a/b.md', 'alpha');
  const before = readdirSync(site.directory);
  const { code, found } = await examine(site);
  expect(code).toBe(0);
  expect(standing(found)).toEqual(ALL_WELL);
  expect(readdirSync(site.directory)).toEqual(before);
  const text = await site.botsync('doctor');
  expect(text).toMatchObject({ code: 0, stderr: '' });
  expect(text.stdout.trim().split('\n')).toHaveLength(1 + ALL_WELL.length);
  expect(text.stdout).toMatch(/^ok {4}bots {9}bot-1 \(One\), for docs$/mu);
  expect(text.stdout).toMatch(/^ok {4}directories {2}docs: 1 file, 5 B, in 2 directories$/mu);
  expect(text.stdout).not.toContain(site.emulator.token);
  expect(site.emulator.counts.get('list-bots')).toBe(2);
  expect([...site.emulator.counts.keys()].sort()).toEqual([
    'get-file',
    'get-usage',
    'list-bots',
    'list-files',
    'list-passages',
    'search-files',
  ]);
});

test('doctor reads the state file beside whoever writes it, and changes nothing in it', async () => {
  const site = await createChatSite();
  site.write('docs/a.md', 'alpha');
  await site.sync();
  const facts = () =>
    readdirSync(join(site.directory, '.botsync')).map((name) => {
      const { size, mtimeMs } = statSync(join(site.directory, '.botsync', name));
      return [name, size, mtimeMs];
    });
  const before = facts();
  const { code, found } = await examine(site);
  expect(code).toBe(0);
  expect(found.find(({ check }) => check === 'state')?.message).toMatch(/^1 in sync, the last pass ended /u);
  expect(facts()).toEqual(before);
});

test('with --emulator doctor asks the emulator, without any secret', async () => {
  const site = await createChatSite();
  site.write('docs/a.md', 'alpha');
  const outcome: Ended = await run(site.directory, ['doctor', '--emulator', '--json']);
  expect(outcome.code).toBe(0);
  expect(standing(outcome.lines()[0] as unknown as Finding[])).toContain('token ok');
  expect(site.emulator.counts.size).toBe(0);
});

test.each<[string, (site: ChatSite) => unknown, number, Partial<Finding>]>([
  [
    'an unknown bot',
    (site) => {
      site.configure({ botId: 'bot-9' });
    },
    3,
    { check: 'bots', status: 'fail', fix: 'write one of bot-1 (One)' },
  ],
  [
    'a field that is misspelt',
    (site) => {
      site.configure({}, { uplod: {} });
    },
    3,
    { check: 'config', status: 'fail' },
  ],
  [
    'a placeholder',
    (site) => {
      site.configure({ botId: 'YOUR_BOT_ID' });
    },
    3,
    { check: 'config', status: 'fail' },
  ],
  [
    'a warning of the config',
    (site) => {
      chmodSync(join(site.directory, 'botsync.config.json'), 0o666);
    },
    0,
    { check: 'config', status: 'warn' },
  ],
  [
    'a token that is not set',
    (site) => {
      site.configure({ token: 'env:NO_SUCH_VARIABLE' });
    },
    3,
    { check: 'secrets', status: 'fail' },
  ],
  [
    'a token that is not set, and no workspace',
    (site) => {
      site.configure({ workspaceId: undefined, token: 'env:NO_SUCH_VARIABLE' });
    },
    3,
    { check: 'token', status: 'warn', message: 'was not checked: there is no token' },
  ],
  [
    'a user key that is not set',
    (site) => {
      site.configure({ chat: { webhookId: 'w', userKey: 'env:NO_SUCH_VARIABLE' } });
    },
    0,
    { check: 'secrets', status: 'warn' },
  ],
  [
    'a secret for the page that is too short',
    (site) => {
      site.write('control', 'short');
      site.configure({}, { service: { listen: '127.0.0.1:0', control: 'file:control' } });
    },
    3,
    { check: 'secrets', status: 'fail' },
  ],
  [
    'a token that others can read',
    (site) => {
      site.write('token', site.emulator.token);
      chmodSync(join(site.directory, 'token'), 0o644);
      site.configure({ token: 'file:token' });
    },
    0,
    { check: 'secrets', status: 'warn' },
  ],
  [
    'a token that is refused',
    (site) => {
      site.write('token', 'wrong');
      chmodSync(join(site.directory, 'token'), 0o600);
      site.configure({ token: 'file:token' });
    },
    4,
    { check: 'token', status: 'fail' },
  ],
  [
    'a workspace that is not the one of the token',
    (site) => {
      site.configure({ workspaceId: 'wkspace_other' });
    },
    4,
    { check: 'token', status: 'fail' },
  ],
  [
    'no workspace',
    (site) => {
      site.configure({ workspaceId: undefined });
    },
    0,
    { check: 'token', status: 'ok', message: 'the platform accepts it for the files of bot bot-1' },
  ],
  [
    'no workspace, and a token that is refused',
    (site) => {
      site.write('token', 'wrong');
      chmodSync(join(site.directory, 'token'), 0o600);
      site.configure({ workspaceId: undefined, token: 'file:token' });
    },
    4,
    { check: 'token', status: 'fail' },
  ],
  [
    'a platform that is not there',
    (site) => {
      site.configure({ baseUrl: 'http://127.0.0.1:1' }, { upload: { attempts: 1 } });
    },
    3,
    { check: 'token', status: 'fail', fix: 'check the network and platform.baseUrl, then try again' },
  ],
  [
    'an integration of the hub',
    (site) => {
      site.configure({ identity: { integrationName: 'webchat' } });
    },
    0,
    { check: 'integration', status: 'ok' },
  ],
  [
    'an integration that is not in the hub',
    (site) => {
      site.configure({ identity: { integrationName: 'nobody/knows' } });
    },
    0,
    { check: 'integration', status: 'warn', message: 'nobody/knows is not in the hub' },
  ],
  [
    'a directory that is not there',
    (site) => {
      rmSync(join(site.directory, 'docs'), { recursive: true });
    },
    3,
    { check: 'directories', status: 'fail' },
  ],
  [
    'a directory that is empty',
    (site) => {
      rmSync(join(site.directory, 'docs/a.md'));
    },
    0,
    { check: 'directories', status: 'warn' },
  ],
  [
    'a name that is not valid UTF-8',
    (site) => {
      site.write('docs/a.md', 'x');
      mkdirSync(Buffer.concat([Buffer.from(join(site.directory, 'docs/')), Buffer.of(0xff)]));
    },
    3,
    { check: 'directories', status: 'fail' },
  ],
  [
    'a state file of another program',
    (site) => {
      site.write('state', 'SQLite format 3\0'.padEnd(4096, 'x'));
      site.configure({}, { stateFile: 'state' });
    },
    3,
    { check: 'state', status: 'fail' },
  ],
])('doctor meets %s', async (_, prepare, code, finding) => {
  const site = await createChatSite();
  site.write('docs/a.md', 'alpha');
  await prepare(site);
  const outcome = await examine(site);
  expect(outcome.found).toContainEqual(expect.objectContaining(finding));
  expect(outcome.code).toBe(code);
  expect(JSON.stringify(outcome.found)).not.toContain(site.emulator.token);
});

test("doctor tells when our clock and the platform's disagree", async () => {
  const { emulator } = await startOwn({
    now: () => Date.now() + 7_260_000,
    bots: [{ id: 'bot-1', name: 'One' }],
  });
  const site = await createChatSite();
  site.write('docs/a.md', 'alpha');
  site.write('token', emulator.token);
  chmodSync(join(site.directory, 'token'), 0o600);
  const { baseUrl, workspaceId } = emulator;
  site.configure({ baseUrl, workspaceId, token: 'file:token' });
  const { code, found } = await examine(site);
  expect(code).toBe(0);
  expect(found.find(({ check }) => check === 'clock')).toMatchObject({
    status: 'warn',
    message: "is 2 hours behind the platform's",
  });
});

test('doctor without a config says so', async () => {
  const site = await createChatSite();
  const outcome = await site.botsync('doctor', '-c', 'none.json');
  expect(outcome).toMatchObject({ code: 3, stderr: '' });
  expect(outcome.stdout).toMatch(/^fail {2}config {7}none\.json: file not found/mu);
});

test('beside the emulator a secret for the page that is not set is only mentioned', async () => {
  const site = await createChatSite();
  const service = { listen: '127.0.0.1:0', control: 'env:NO_SUCH_VARIABLE' };
  site.configure({}, { service });
  const { code, found } = await examine(site, '--emulator');
  expect(code).toBe(0);
  expect(standing(found)).toContain('secrets warn');
  expect((await examine(site)).code).toBe(3);
});
