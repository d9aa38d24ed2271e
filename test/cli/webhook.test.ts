import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createSite, run, type Ended, type Site } from './binary.ts';

/** Part of the address: whoever knows it can post. */
const SECRET = 'T0K3N-of-the-hook';

interface Hook {
  readonly address: string;
  readonly posts: { readonly path: string; readonly body: Record<string, unknown> }[];
  /** The statuses of the next answers; 200 after these. */
  readonly answers: number[];
}

async function openHook(): Promise<Hook> {
  const posts: Hook['posts'] = [];
  const answers: number[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const status = answers.shift() ?? 200;
      if (status < 300)
        posts.push({ path: request.url ?? '', body: JSON.parse(text) as Record<string, unknown> });
      // Some quote a part of the address.
      response.writeHead(status).end(JSON.stringify({ message: `no hook ${SECRET}` }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/${SECRET}?thread=1`;
  return { address, posts, answers };
}

async function createHookSite(hook: Hook, notify: object = {}, rules: object[] = []): Promise<Site> {
  const site = await createSite({});
  const { baseUrl } = site.emulator;
  const config = {
    platform: { baseUrl, botId: 'bot-1', token: 'env:BOTSYNC_TOKEN' },
    sources: [{ directory: './docs' }],
    rules,
    upload: { attempts: 1 },
    notify: { webhook: 'env:BOTSYNC_NOTIFY_WEBHOOK', ...notify },
  };
  site.write('botsync.config.json', JSON.stringify(config));
  return { ...site, env: { ...site.env, BOTSYNC_NOTIFY_WEBHOOK: hook.address } };
}

async function botsync({ directory, env }: Site, ...args: string[]): Promise<Ended> {
  const ended = await run(directory, args, env);
  expect(ended.stdout + ended.stderr).not.toContain(SECRET);
  return ended;
}

test('a pass posts what went wrong, and later that it is over, once each', async () => {
  const hook = await openHook();
  const site = await createHookSite(hook);
  site.write('docs/bad.md', 'x');
  const fault = { kind: 'status', status: 409, type: 'ResourceLockedConflict', times: 1 } as const;
  site.emulator.faults.add({ operation: 'upsert', key: 'bad.md', ...fault });
  for (const code of [3, 0, 0]) expect(await botsync(site, 'sync', '--once')).toMatchObject({ code });
  const common = { topic: 'failing', source: 'docs', host: expect.any(String) as string };
  expect(hook.posts).toMatchObject([
    {
      path: `/services/${SECRET}?thread=1`,
      body: { ...common, event: 'began', files: 1, text: expect.stringContaining('bad.md') as string },
    },
    { body: { ...common, event: 'over', files: null } },
  ]);
  for (const { body } of hook.posts) expect(Date.parse(String(body['at']))).toBeGreaterThan(0);
});

test('a post that is refused is made again, and the message does not show the address', async () => {
  const hook = await openHook();
  const site = await createHookSite(hook);
  site.write('docs/bad.md', 'x');
  const fault = { kind: 'status', status: 409, type: 'ResourceLockedConflict', times: Infinity } as const;
  site.emulator.faults.add({ operation: 'upsert', key: 'bad.md', ...fault });
  hook.answers.push(404);
  const refused = await botsync(site, 'sync', '--once');
  expect(refused).toMatchObject({ code: 3 });
  expect(refused.stderr).toContain('notification failed: 404; check the address of notify.webhook');
  expect(hook.posts).toEqual([]);
  await botsync(site, 'sync', '--once');
  await botsync(site, 'sync', '--once');
  expect(hook.posts).toMatchObject([{ body: { event: 'began' } }]);
});

test('an announced file is posted with its address', async () => {
  const hook = await openHook();
  const rules = [{ match: '*.mp3', accessPolicies: ['public_content'] }];
  const site = await createHookSite(hook, { announce: [{ match: '*.mp3' }] }, rules);
  site.write('docs/today.mp3', 'sound');
  expect(await botsync(site, 'sync', '--once')).toMatchObject({ code: 0 });
  const url = expect.stringMatching(/^http/u) as string;
  expect(hook.posts).toMatchObject([{ body: { event: 'announcement', key: 'today.mp3', url } }]);
});

test('doctor names the webhook without its secret, and sends a test', async () => {
  const hook = await openHook();
  const site = await createHookSite(hook);
  site.write('docs/a.md', 'x');
  const origin = new URL(hook.address).origin;
  expect((await botsync(site, 'doctor')).stdout).toContain(`notifications go to the webhook at ${origin}`);
  expect(hook.posts).toEqual([]);
  const { stdout } = await botsync(site, 'doctor', '--send-test');
  expect(stdout).toContain(`a test message was sent to the webhook at ${origin}: check that it arrived`);
  expect(hook.posts).toMatchObject([{ body: { event: 'test', topic: null } }]);
});

test.each([
  ['', 'notify.webhook: the environment variable BOTSYNC_NOTIFY_WEBHOOK is empty'],
  [SECRET, 'notify.webhook: the secret is not an http(s) address; write one such as https://HOST/PATH'],
])('an address that cannot be used (%j) is named before anything is sent', async (address, message) => {
  const hook = await openHook();
  const site = await createHookSite({ ...hook, address });
  site.write('docs/a.md', 'x');
  const ended = await botsync(site, 'sync', '--once');
  expect(ended).toMatchObject({ code: 2 });
  expect(ended.stderr).toContain(message);
  expect(site.emulator.counts.get('upsert') ?? 0).toBe(0);
});
