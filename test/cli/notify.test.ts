import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { start, type Ended, type Running } from './binary.ts';
import { createChatSite, type ChatSite } from './chat-site.ts';

const POLL = { timeout: 40_000, interval: 50 };

const CONVERSATION = {
  channel: 'channel',
  tags: { topic: 'botsync' },
  integration: { name: 'webchat', version: 'latest' },
};

/** One attempt a file, and a rescan every second: what fails is tried again soon. */
const QUICK = { upload: { attempts: 1 }, watch: { settle: '50ms', rescan: '1s' } };

interface Daemon extends Running {
  readonly says: (what: string) => boolean;
}

async function launch(site: ChatSite, ...args: string[]): Promise<Daemon> {
  const running = start(site.directory, ['sync', '--log-format', 'json', ...args], site.env);
  let text = '';
  running.child.stderr?.on('data', (chunk: string) => (text += chunk));
  const says = (what: string): boolean => text.includes(what);
  await expect.poll(() => says('"trigger":"start"'), POLL).toBe(true);
  return { ...running, says };
}

async function stop({ child, ended }: Running): Promise<Ended> {
  child.kill('SIGTERM');
  return await ended;
}

/** What notification sent, in all conversations of the bot. */
function messages({ emulator }: ChatSite): Record<string, unknown>[] {
  return emulator
    .listConversations('bot-1')
    .flatMap(({ id }) => emulator.listMessages(id))
    .map(({ payload }) => payload as Record<string, unknown>);
}

function texts(site: ChatSite): string[] {
  return messages(site).map(({ text }) => String(text));
}

function fail(site: ChatSite, key: string): void {
  const fault = { kind: 'status', status: 409, type: 'ResourceLockedConflict' } as const;
  site.emulator.faults.add({ operation: 'upsert', key, ...fault, times: Infinity });
}

/** None of the secrets is anywhere in what was said. */
function expectNoSecret({ emulator }: ChatSite, text: string): void {
  for (const secret of [emulator.token, emulator.userKey, 'X-Amz-Signature'])
    expect(text).not.toContain(secret);
}

test(
  'the daemon tells of a failure once, of the recovery once, and announces a sound file that downloads',
  { timeout: 90_000 },
  async () => {
    const site = await createChatSite();
    const rules = [
      { match: '*.mp3', accessPolicies: ['public_content'], publicContentImmediatelyAccessible: true },
    ];
    const notify = { conversation: CONVERSATION, announce: [{ match: 'news/**/*.mp3' }] };
    site.configure({}, { ...QUICK, rules, notify });
    fail(site, 'bad.md');
    site.write('docs/bad.md', 'x');
    site.write('docs/good.md', 'x');
    site.write('docs/news/today.mp3', 'sound');
    site.write('docs/other.mp3', 'silence');
    const daemon = await launch(site);
    await expect.poll(() => messages(site).length, POLL).toBe(2);
    const conversations = site.emulator.listConversations('bot-1');
    expect(conversations).toMatchObject([{ channel: 'channel', tags: { topic: 'botsync' } }]);
    expect(conversations[0]?.integration).toMatch(/^intver_/u);
    const [told, announced] = messages(site);
    expect(told).toEqual({
      type: 'text',
      text: expect.stringMatching(
        /^botsync on .+: 1 file of docs is not in sync: bad\.md \(409 .*\)\. Run: botsync status -c \/.+\.json$/u,
      ) as string,
    });
    expect(announced?.['type']).toBe('audio');
    const sound = await fetch(String(announced?.['audioUrl']));
    expect(await sound.text()).toBe('sound');
    site.emulator.faults.clear();
    await expect.poll(() => messages(site).length, POLL).toBe(3);
    expect(texts(site)[2]).toMatch(/: all files of docs are in sync again\.$/u);
    // Renamed, it is the same news.
    site.write('docs/news/again.mp3', 'sound');
    site.write('docs/news/new.mp3', 'other');
    await expect.poll(() => messages(site).length, POLL).toBe(4);
    const { code, stderr, stdout } = await stop(daemon);
    expect(code).toBe(0);
    expectNoSecret(site, stderr + stdout + JSON.stringify(messages(site)));
    expectNoSecret(site, readFileSync(join(site.directory, '.botsync/state.db'), 'latin1'));
    // Neither a restart nor a pass tells any of it again.
    const second = await launch(site);
    fail(site, 'late.md');
    site.write('docs/late.md', 'x');
    await expect.poll(() => second.says('could not upload'), POLL).toBe(true);
    await stop(second);
    expect((await site.botsync('sync', '--once')).code).toBe(3);
    expect(messages(site)).toHaveLength(4);
    expect(site.emulator.listConversations('bot-1')).toHaveLength(1);
  },
);

describe('sync --once', () => {
  test('tells of failures once, however often it runs, and of their end', async () => {
    const site = await createChatSite();
    site.configure({}, { ...QUICK, notify: { conversation: { channel: 'channel' }, quiet: '1s' } });
    fail(site, 'a.md');
    site.write('docs/a.md', 'x');
    const ended: Ended[] = [];
    for (let run = 0; run < 3; run++) ended.push(await site.botsync('sync', '--once', '--json'));
    expect(ended.map(({ code }) => code)).toEqual([3, 3, 3]);
    expect(texts(site)).toEqual([expect.stringContaining('1 file of docs is not in sync: a.md (409')]);
    site.emulator.faults.clear();
    expect((await site.botsync('sync', '--once')).code).toBe(0);
    expect((await site.botsync('sync', '--once')).code).toBe(0);
    expect(texts(site).slice(1)).toEqual([expect.stringContaining('all files of docs are in sync again')]);
    expectNoSecret(site, ended.map(({ stdout, stderr }) => stdout + stderr).join(''));
  });

  test('tells of a halted source with what lets it through, and of refused credentials', async () => {
    const site = await createChatSite();
    site.configure(
      {},
      {
        sources: [{ directory: './docs' }, { directory: './gone' }],
        notify: { conversation: { channel: 'channel' } },
      },
    );
    site.write('docs/a.md', 'x');
    expect((await site.botsync('sync', '--once')).code).toBe(5);
    expect(texts(site)).toEqual([
      expect.stringMatching(
        /gone is halted; .* does not exist \(.*\)\. Check its directory\. .* --allow-removals -c /u,
      ),
    ]);
    site.configure({ botId: 'bot-1' }, { notify: { conversation: { channel: 'channel' } } });
    site.write('docs/b.md', 'x');
    site.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 401 });
    expect((await site.botsync('sync', '--once')).code).toBe(4);
    expect(texts(site).slice(1)).toEqual([
      expect.stringMatching(/the platform refuses the credentials: 401.*\. Run: botsync doctor -c /u),
    ]);
    expect((await site.botsync('sync', '--once')).code).toBe(0);
    expect(texts(site).slice(2)).toEqual([expect.stringContaining('no longer refuses the credentials')]);
  });

  test('keeps what could not be announced for the next pass', async () => {
    const site = await createChatSite();
    const rules = [{ match: '*.mp3', accessPolicies: ['public_content'] }];
    const notify = { conversation: { channel: 'channel' }, announce: [{ match: '*.mp3' }] };
    site.configure({}, { rules, notify });
    site.emulator.faults.add({ operation: 'create-message', kind: 'status', status: 500 });
    site.write('docs/a.mp3', 'sound');
    const first = await site.botsync('sync', '--once', '--log-format', 'json');
    expect(first.code).toBe(0);
    expect(first.stderr).toContain('could not be announced: 500');
    expect(messages(site)).toEqual([]);
    expect((await site.botsync('sync', '--once')).code).toBe(0);
    expect((await site.botsync('sync', '--once', '--force')).code).toBe(0);
    expect(messages(site)).toMatchObject([{ type: 'audio' }]);
  });

  test('says of a sound file that nobody could hear that it is not announced', async () => {
    const site = await createChatSite();
    const rules = [{ match: 'public/**', accessPolicies: ['public_content'] }];
    const notify = { conversation: { channel: 'channel' }, announce: [{ match: '*.mp3' }] };
    site.configure({}, { rules, notify });
    site.write('docs/a.mp3', 'sound');
    const { code, stderr } = await site.botsync('sync', '--once', '--log-format', 'json');
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /"source":"docs","path":"a\.mp3","msg":"is not announced, because it is not accessible/u,
    );
    expect(messages(site)).toEqual([]);
  });

  test('with --emulator people are told in the emulator', async () => {
    const site = await createChatSite();
    site.configure({}, { limits: { fileBytes: 3 }, notify: { conversationId: 'conv_real' } });
    site.write('docs/a.md', 'too large');
    const { code, stderr } = await site.botsync(
      'sync',
      '--once',
      '--emulator',
      '--log-format',
      'json',
      '--log-level',
      'debug',
    );
    expect(code).toBe(3);
    expect(stderr).toContain('notification sent');
    expect(site.emulator.counts.size).toBe(0);
  });
});

/** A chat that takes requests and never answers. */
async function hangingChat(): Promise<string> {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a chat that does not work leaves the sync alone', () => {
  test.each<[string, (site: ChatSite) => Promise<{ platform?: object; conversation?: object }>, RegExp]>([
    [
      'a wrong user key',
      (site) => {
        writeFileSync(join(site.directory, 'key'), 'nobody', { mode: 0o600 });
        const chat = { webhookId: site.emulator.webhookId, userKey: 'file:key' };
        return Promise.resolve({ platform: { chat } });
      },
      /notification failed: 401.*check platform\.chat\.userKey/u,
    ],
    [
      'a channel that the integration does not have',
      () => Promise.resolve({ conversation: { channel: 'phone', integration: { name: 'webchat' } } }),
      /integration webchat 0\.3\.0 has no channel \\"phone\\"; it has \\"channel\\"/u,
    ],
    [
      'an integration that the hub does not have',
      () => Promise.resolve({ conversation: { channel: 'phone', integration: { name: 'nobody' } } }),
      /integration nobody latest: 404/u,
    ],
    [
      'an address that nobody answers at',
      async () => ({ platform: { chatUrl: await hangingChat() } }),
      /notification failed: no answer within/u,
    ],
  ])('%s', async (_, prepare, words) => {
    const site = await createChatSite();
    const { platform = {}, conversation = { channel: 'channel' } } = await prepare(site);
    site.configure(platform, { ...QUICK, notify: { conversation } });
    fail(site, 'bad.md');
    site.write('docs/bad.md', 'x');
    site.write('docs/a.md', 'one');
    const once = await site.botsync('sync', '--once', '--log-format', 'json');
    expect(once.code).toBe(3);
    expect(once.stderr).toMatch(words);
    expect(messages(site)).toEqual([]);
    expectNoSecret(site, once.stderr);
    expect(site.emulator.readContent('bot-1', 'a.md')?.toString()).toBe('one');
  });

  test('a daemon neither waits for it nor stops later', async () => {
    const site = await createChatSite();
    const notify = { conversation: { channel: 'channel' } };
    site.configure({ chatUrl: await hangingChat() }, { ...QUICK, notify });
    fail(site, 'bad.md');
    site.write('docs/bad.md', 'x');
    site.write('docs/a.md', 'one');
    const daemon = await launch(site);
    expect(site.emulator.readContent('bot-1', 'a.md')?.toString()).toBe('one');
    site.write('docs/a.md', 'two');
    await expect.poll(() => site.emulator.readContent('bot-1', 'a.md')?.toString(), POLL).toBe('two');
    const began = performance.now();
    const { code } = await stop(daemon);
    expect(code).toBe(0);
    expect(performance.now() - began).toBeLessThan(3000);
  });

  test('a user key that is not set is a mistake in the configuration', async () => {
    const site = await createChatSite();
    const chat = { webhookId: 'w', userKey: 'env:NO_SUCH_VARIABLE' };
    site.configure({ chat }, { notify: { conversationId: 'c' } });
    const { code, stderr } = await site.botsync('sync', '--once');
    expect(code).toBe(2);
    expect(stderr).toContain('platform.chat.userKey: the environment variable NO_SUCH_VARIABLE is not set');
  });
});

test('a reload takes up other settings of notify', { timeout: 60_000 }, async () => {
  const site = await createChatSite();
  site.configure({}, QUICK);
  fail(site, 'bad.md');
  site.write('docs/bad.md', 'x');
  const daemon = await launch(site);
  expect(messages(site)).toEqual([]);
  site.configure({}, { ...QUICK, notify: { conversation: { channel: 'channel' } } });
  daemon.child.kill('SIGHUP');
  await expect.poll(() => messages(site).length, POLL).toBe(1);
  site.configure({}, { ...QUICK, notify: { conversation: { channel: '' } } });
  daemon.child.kill('SIGHUP');
  await expect.poll(() => daemon.says('not reloaded'), POLL).toBe(true);
  expect((await stop(daemon)).code).toBe(0);
});
