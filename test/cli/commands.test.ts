import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { markOf } from '../../src/domain/mark.ts';
import { createSite, run, start, temporaryDirectory } from './binary.ts';

test('status tells counts, failures and the last pass, and reads beside a running botsync', async () => {
  const site = await createSite({ upload: { attempts: 1 }, rules: [{ match: 'r', expiresIn: '10d' }] });
  site.write('docs/r', 'report');
  site.write('docs/b', 'bad');
  site.emulator.faults.add({
    operation: 'upsert',
    key: 'b',
    kind: 'status',
    status: 409,
    type: 'ResourceLockedConflict',
    message: 'out of order',
  });
  await site.sync();
  const status = await run(site.directory, ['status', '--json']);
  expect(status.code).toBe(3);
  expect(status.lines()).toEqual([
    {
      sources: [
        {
          ...{
            name: 'docs',
            halted: null,
            halt: null,
            files: 1,
            bytes: 6,
            failed: 1,
            refused: 0,
            kept: 0,
            toRemove: 0,
          },
          ...{ sending: 0, problems: 0, pending: 0, toRemove: 0 },
          ...{ stored: 0, searchable: 0, unconfirmed: 0, unsearchable: 0 },
          nextExpiry: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/u) as string,
          expiring: 0,
        },
      ],
      failures: [
        {
          source: 'docs',
          path: 'b',
          key: 'b',
          kind: 'failed',
          reason: '409 ResourceLockedConflict: out of order',
          ...{ retry: 'pass', retryAt: null },
        },
      ],
      lastPass: {
        finishedAt: expect.any(String) as string,
        exitCode: 3,
        summary: expect.any(Object) as object,
      },
      sinceLastPass: { sent: 0, sentBytes: 0, updated: 0, removed: 0, failed: 0, last: null },
      lastVerification: null,
      pause: null,
      service: { kind: 'none' },
      inSync: false,
      daemon: null,
    },
  ]);
  const text = (await run(site.directory, ['status'])).stdout;
  expect(text).toMatch(
    /^NOT IN SYNC, as of the last pass, \d+ s ago\n\ndocs: 1 file in sync, 6 B; 1 failed; next expiry in 10 days/u,
  );
  expect(text).toContain(
    'docs/b: failed: 409 ResourceLockedConflict: out of order; retried by the next pass',
  );

  site.write('docs/c', 'c');
  site.emulator.faults.add({ operation: 'upload', key: 'c', kind: 'hang' });
  const running = start(site.directory, ['sync', '--once', '--json'], site.env);
  await expect.poll(() => site.emulator.faults.pending().length).toBe(0);
  const beside = await run(site.directory, ['status', '--json']);
  expect(beside.code).toBe(3);
  expect(beside.lines()).toMatchObject([
    {
      sources: [{ sending: 1, failed: 0 }],
      inSync: false,
      daemon: { pid: running.child.pid, command: 'sync --once' },
    },
  ]);
  expect(await run(site.directory, ['explain', 'docs/c'])).toMatchObject({ code: 0 });
  site.emulator.faults.clear();
  expect(await running.ended).toMatchObject({ code: 0 });
  const calm = await run(site.directory, ['status']);
  expect(calm.code).toBe(0);
  expect(calm.stdout).toMatch(/^In sync, as of the last pass, \d+ s ago\n\ndocs: 3 files in sync/u);
});

test('status tells of a halt with its exit code, once; ls and explain know of it', async () => {
  const site = await createSite();
  site.write('docs/a.md', 'one');
  await site.sync();
  rmSync(join(site.directory, 'docs'), { recursive: true });
  expect((await site.sync()).code).toBe(5);
  const status = await run(site.directory, ['status']);
  expect(status.code).toBe(5);
  expect(status.stdout.match(/does not exist/gu)).toHaveLength(1);
  expect(status.stdout).not.toContain('docs/.');
  const list = await run(site.directory, ['ls']);
  expect(list.stdout).not.toContain('docs/.');
  expect(list.stderr).toMatch(/^docs is halted: .*docs does not exist/mu);
  const { stdout } = await run(site.directory, ['explain', 'docs/a.md']);
  expect(stdout).toMatch(/^A pass: {2}does nothing \(the source is halted: .*docs does not exist/mu);
});

test('status before the first pass says so', async () => {
  const site = await createSite();
  const outcome = await run(site.directory, ['status']);
  expect(outcome.code).toBe(3);
  expect(outcome.stdout).toContain('NOT IN SYNC: no pass has ended yet; run: botsync sync --once');
});

test('explain tells the key, the rules, the exact upsert, the record, and what a pass would do', async () => {
  const site = await createSite({
    sources: [{ directory: './docs', keyPrefix: 'kb/', ignore: ['drafts/'] }],
    rules: [
      { match: '**', tags: { by: 'botsync' } },
      { match: '*.pdf', index: true },
      { match: '*.md', index: true, metadata: { n: 1 }, accessPolicies: ['integrations'] },
    ],
  });
  site.write('docs/a.md', 'alpha');
  site.write('docs/drafts/b.md', 'draft');
  const explain = async (path: string): Promise<Record<string, unknown> | undefined> =>
    (await run(site.directory, ['explain', path, '--json'])).lines()[0];
  const upsert = {
    ...{ key: 'kb/a.md', size: 5, index: true, tags: { by: 'botsync' } },
    metadata: { n: 1, botsync: markOf(createHash('sha256').update('alpha').digest(), 'docs') },
    ...{ accessPolicies: ['integrations'], contentType: 'text/markdown' },
  };
  expect(await explain('docs/a.md')).toEqual({
    ...{ source: 'docs', path: 'a.md', key: 'kb/a.md', botId: 'bot-1' },
    rules: [
      { rule: 0, match: ['**'] },
      { rule: 2, match: ['*.md'] },
    ],
    ...{ upsert, record: null, action: 'upload', reason: 'new', fix: null },
  });
  await site.sync();
  const recorded = site.emulator.listFiles('bot-1')[0];
  expect(recorded).toMatchObject(upsert);
  const known = await explain(`${site.directory}/docs/a.md`);
  expect(['none', 'verify']).toContain(known?.['action']);
  expect(known?.['record']).toMatchObject({ state: 'synced', failure: null });
  expect(await explain('docs/drafts/b.md')).toMatchObject({
    action: 'skip',
    reason: 'ignored by the pattern "drafts/", which matches drafts/',
  });
  expect(await explain('docs/none')).toMatchObject({ action: 'none', reason: 'file not found' });
  const text = (await run(site.directory, ['explain', 'docs/a.md'])).stdout;
  expect(text).toMatch(/^File: {4}docs\/a\.md\nKey: {5}kb\/a\.md \(bot bot-1\)\n/u);
});

test('emulator --port 0 --json prints one line and serves until a signal; a second one on its data ends with 6', async () => {
  const directory = temporaryDirectory();
  const args = ['emulator', '--port', '0', '--json', '--data', 'data', '--bot', 'b1=First'];
  const running = start(directory, args);
  const line = await new Promise<string>((resolve) => {
    running.child.stdout?.once('data', (text: string) => {
      resolve(text);
    });
  });
  const told = JSON.parse(line) as Record<string, string>;
  expect(Object.keys(told)).toEqual([
    'baseUrl',
    'chatUrl',
    'token',
    'workspaceId',
    'bots',
    'webhookId',
    'userKey',
    'dataDir',
  ]);
  expect(told).toMatchObject({
    bots: [{ id: 'b1', name: 'First' }],
    baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/u) as string,
  });
  const answer = await request(`${told['baseUrl'] ?? ''}/v1/files`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${told['token'] ?? ''}`,
      'x-bot-id': 'b1',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ key: 'k', size: 1 }),
  });
  expect(answer.statusCode).toBe(200);
  await answer.body.dump();
  expect(await run(directory, args)).toMatchObject({ code: 6, stdout: '' });
  const port = new URL(told['baseUrl'] ?? '').port;
  const taken = await run(directory, ['emulator', '--port', port, '--data', 'other']);
  expect(taken).toMatchObject({ code: 3, stdout: '' });
  expect(taken.stderr).toContain(`port ${port} is in use`);
  running.child.kill('SIGTERM');
  expect(await running.ended).toMatchObject({ code: 0, stdout: line });
});
