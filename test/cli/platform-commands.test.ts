import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listen } from '../platform/fixture.ts';
import { run, runLines, start } from './binary.ts';
import { createChatSite, runWithInput } from './chat-site.ts';

test('bots lists all pages: a table for people, the bare list as JSON', async () => {
  const names = ['Ünï', '名前🚲', ...Array.from({ length: 60 }, (_, n) => `Bot ${n}`)];
  const site = await createChatSite({
    pageSize: 10,
    bots: names.map((name, n) => ({ id: `bot-${n}`, name })),
  });
  const json = await site.botsync('bots', '--json');
  expect(json).toMatchObject({ code: 0, stderr: '' });
  const [{ bots }] = json.lines() as [{ bots: Record<string, unknown>[] }];
  expect(new Set(bots.map(({ name }) => name))).toEqual(new Set(names));
  expect(bots[0]).toEqual({
    ...{ id: expect.any(String) as string, name: expect.any(String) as string },
    ...{ createdAt: expect.any(String) as string, updatedAt: expect.any(String) as string },
    deployedAt: expect.anything() as unknown,
  });
  expect(site.emulator.counts.get('list-bots')).toBe(7);
  const text = (await site.botsync('bots')).stdout;
  expect(text).toMatch(/^ID +NAME +CREATED +UPDATED +DEPLOYED\n/u);
  expect(text.trim().split('\n')).toHaveLength(names.length + 1);
  expect(text).toContain('名前🚲');
});

test('a token file that others can read is warned of', async () => {
  const site = await createChatSite();
  site.write('token', site.emulator.token);
  chmodSync(join(site.directory, 'token'), 0o644);
  site.configure({ token: 'file:./token' });
  const { code, stderr } = await site.botsync('bots');
  expect(code).toBe(0);
  expect(stderr.match(/chmod 600/gu)).toHaveLength(1);
});

test('integration shows an entry of the hub, its signing secret masked unless asked for', async () => {
  const site = await createChatSite();
  const json = await site.botsync('integration', 'webchat', '--json');
  expect(json).toMatchObject({ code: 0, stderr: '' });
  expect(json.lines()).toMatchObject([{ integration: { name: 'webchat', signingSecret: '***' } }]);
  const open = await site.botsync('integration', 'webchat', '--json', '--show-secrets');
  const [{ integration }] = open.lines() as [{ integration: { signingSecret: string; version: string } }];
  expect(integration.signingSecret).not.toBe('***');
  const text = await site.botsync('integration', 'webchat', `^${integration.version}`);
  expect(text.stdout).toMatch(/^name: +webchat\nversion: /u);
  expect(text.stdout).toMatch(/^signingSecret: +\*\*\*$/mu);
  expect(text.stdout).not.toContain(integration.signingSecret);
  const unknown = await site.botsync('integration', 'webchat', '^99');
  expect(unknown).toMatchObject({ code: 3, stdout: '' });
  expect(unknown.stderr).toMatch(/^integration webchat \^99: 404 ResourceNotFound: /u);
});

test('a conversation is created and a message is sent to it', async () => {
  const site = await createChatSite({ recordRequests: true });
  const created = await site.botsync(
    ...['conversation', 'create', '--json', '--channel', 'channel', '--tag', 'id=1=2', 'empty='],
    ...['--tag', 'ü=ö', '--integration-alias', 'shop'],
  );
  expect(created).toMatchObject({ code: 0, stderr: '' });
  const [{ conversation }] = created.lines() as [{ conversation: Record<string, unknown> }];
  expect(conversation).toMatchObject({
    ...{ id: expect.any(String) as string, channel: 'channel', integration: 'shop', messageCount: 0 },
    tags: { id: '1=2', empty: '', ü: 'ö' },
  });
  const to = ['message', 'send', '--conversation', String(conversation['id'])];
  const sent = await site.botsync(...to, '--text', 'Grüße\n', '--json');
  expect(sent).toMatchObject({ code: 0, stderr: '' });
  expect(sent.lines()).toMatchObject([
    { message: { conversationId: conversation['id'], payload: { type: 'text', text: 'Grüße\n' } } },
  ]);
  const audioUrl = 'https://a.test/x.mp3?sig=1';
  const audio = await site.botsync(...to, '--audio-url', audioUrl, '--json');
  expect(audio.lines()).toMatchObject([{ message: { payload: { type: 'audio', audioUrl } } }]);
  const card = { type: 'card', title: 'T', actions: [{ a: 1 }] };
  site.write('card.json', `\ufeff${JSON.stringify(card)}`);
  const outcomes = [
    await site.botsync(...to, '--json', '--payload', JSON.stringify(card)),
    await site.botsync(...to, '--json', '--payload', 'card.json'),
    await runWithInput(site, [...to, '--json', '--payload', '-'], JSON.stringify(card)),
  ];
  for (const outcome of outcomes) expect(outcome.lines()).toMatchObject([{ message: { payload: card } }]);
  const text = await site.botsync(...to, '--text', 'Hello');
  expect(text.stdout).toMatch(/^id: +\S+\nconversationId: /u);
  expect(text.stdout).toMatch(/^payload: +\{.*"Hello".*\}$/mu);
  for (const { operation, headers } of site.emulator.requests) {
    const isMessage = operation === 'create-message';
    expect(headers['authorization'] === undefined).toBe(isMessage);
    expect(headers['x-user-key'] !== undefined).toBe(isMessage);
  }
});

const MISTAKES: readonly (readonly [args: string[], message: RegExp])[] = [
  [['integration', ''], /is not the name or version/u],
  [['integration', '..'], /is not the name or version/u],
  [['conversation', 'create'], /--channel is required/u],
  [['conversation', 'create', '--channel', ''], /--channel is empty/u],
  [['conversation', 'create', '--channel', 'x'.repeat(201)], /--channel has 201 characters; at most 200/u],
  [['conversation', 'create', '--channel', 'x', '--tag', 'a'], /--tag a: write NAME=VALUE/u],
  [['conversation', 'create', '--channel', 'x', '--tag', '=a'], /write NAME=VALUE/u],
  [['conversation', 'create', '--channel', 'x', '--tag', 'a=1', 'a=2'], /--tag a is given twice/u],
  [['conversation', 'create', '--channel', 'x', '--channel', 'y'], /--channel may be given once/u],
  [
    ['conversation', 'create', '--channel', 'x', '--integration-name', 'y'.repeat(201)],
    /--integration-name has 201/u,
  ],
  [['conversation', 'create', '--channel', 'x', '--integration-id', 'ü'], /--integration-id cannot be sent/u],
  [['conversation'], /Name a subcommand: create/u],
  [['conversation', 'delete'], /Unknown command: conversation delete/u],
  [['message', 'send', '--text', 'x'], /--conversation is required/u],
  [['message', 'send', '--conversation', 'c'], /message is missing; write one of --text/u],
  [['message', 'send', '--conversation', '', '--text', 'x'], /--conversation is empty/u],
  [['message', 'send', '--conversation', 'c', '--text', ' '], /--text is empty/u],
  [['message', 'send', '--conversation', 'c', '--text', 'x', '--payload', '{}'], /exactly one content/u],
  [
    ['message', 'send', '--conversation', 'c', '--audio-url', 'a.mp3'],
    /--audio-url a\.mp3 is not an address/u,
  ],
  [['message', 'send', '--conversation', 'c', '--audio-url', 'ftp://a/b'], /is not an address; write http/u],
  [['message', 'send', '--conversation', 'c', '--payload', ''], /--payload is empty/u],
  [['message', 'send', '--conversation', 'c', '--payload', '{"type":'], /--payload is not JSON: /u],
  [['message', 'send', '--conversation', 'c', '--payload', '[1]'], /is not a JSON object/u],
  [['message', 'send', '--conversation', 'c', '--payload', '{"text":"x"}'], /payload has no "type"/u],
  [['message', 'send', '--conversation', 'c', '--payload', 'none.json'], /none\.json does not exist/u],
  [['message', 'send', '--conversation', 'c', '--payload', 'docs'], /docs cannot be read: EISDIR/u],
  [['message', 'send', '--conversation', 'c', '--payload', 'latin.json'], /latin\.json is not UTF-8/u],
  [['message', 'send', '--conversation', 'c', '--payload', 'large.json'], /large\.json is too large/u],
  [['message', 'send', '--conversation', 'c', '--text', 'x'.repeat(128_001)], /at most 128,000 are taken/u],
];

test('mistakes of the user are told before anything is sent', async () => {
  const site = await createChatSite();
  site.write('latin.json', Buffer.from('{"type":"text","text":"\xfc"}', 'latin1'));
  site.write('large.json', Buffer.alloc(1_000_001, ' '));
  const lines = MISTAKES.map(([args]) => args);
  const outcomes = await runLines(site.directory, lines, site.env);
  expect(outcomes).toHaveLength(MISTAKES.length);
  for (const [line, [args, message]] of MISTAKES.entries()) {
    const what = args.join(' ').slice(0, 100);
    expect.soft(outcomes[line], what).toMatchObject({ code: 2, stdout: '' });
    expect.soft(outcomes[line]?.stderr, what).toMatch(message);
    expect.soft(outcomes[line]?.stderr, what).not.toMatch(/^ +at /mu);
  }
  expect(site.emulator.counts.size).toBe(0);
  // A process of its own ends with the same.
  expect(await site.botsync(...(lines[0] as string[]))).toMatchObject({
    code: 2,
    stderr: outcomes[0]?.stderr,
  });
});

test.each<[string[], string, object, number, RegExp]>([
  [['bots'], 'list-bots', { status: 401 }, 4, /check platform\.token and platform\.workspaceId/u],
  [['bots'], 'list-bots', { status: 403 }, 4, /may not do this in platform\.workspaceId/u],
  [['bots'], 'list-bots', { status: 500, times: 9 }, 3, /^.*the bots could not be listed: 500 Internal/su],
  [
    ['conversation', 'create', '--channel', 'c'],
    'create-conversation',
    { status: 401 },
    4,
    /platform\.token/u,
  ],
  [
    ['conversation', 'create', '--channel', 'c'],
    'create-conversation',
    { status: 500 },
    3,
    /may have been carried out/u,
  ],
  [
    ['message', 'send', '--conversation', 'c', '--text', 'x'],
    'create-message',
    { status: 403 },
    3,
    /may not be a participant of the conversation/u,
  ],
  [
    ['message', 'send', '--conversation', 'c', '--text', 'x'],
    'create-message',
    { status: 401 },
    4,
    /check platform\.chat\.userKey/u,
  ],
  [
    ['message', 'send', '--conversation', 'c', '--text', 'x'],
    'create-message',
    { status: 404 },
    3,
    /404 ResourceNotFound.*check the conversation's id/u,
  ],
])('%j answered by %s with %j ends with %d', async (args, operation, fault, code, message) => {
  const site = await createChatSite();
  site.configure({}, { upload: { attempts: 2 } });
  site.emulator.faults.add({ operation, kind: 'status', ...fault } as never);
  const outcome = await site.botsync(...args);
  expect(outcome).toMatchObject({ code, stdout: '' });
  expect(outcome.stderr).toMatch(message);
});

test.each([
  ['bots', 'platform.workspaceId: is missing'],
  ['integration webchat', 'platform.workspaceId: is missing'],
  ['conversation create --channel c', 'platform.botId: is still the placeholder'],
  ['message send --conversation c --text x', 'platform.chat: is missing'],
])('"%s" names the field that it lacks, and does without it on the emulator', async (command, problem) => {
  const site = await createChatSite();
  site.write(
    'botsync.config.json',
    JSON.stringify({ platform: { botId: 'YOUR_BOT_ID' }, sources: [{ directory: './docs' }] }),
  );
  const args = command.split(' ');
  const real = await run(site.directory, args);
  expect(real).toMatchObject({ code: 2, stdout: '' });
  expect(real.stderr).toContain(problem);
  const emulated = await run(site.directory, [...args, '--emulator', '--json']);
  // On a new emulator there is no conversation yet.
  expect(emulated.code).toBe(command.startsWith('message') ? 3 : 0);
});

test('with --emulator a conversation of one command takes the message of the next', async () => {
  const site = await createChatSite();
  const emulated = (...args: string[]) => run(site.directory, [...args, '--emulator', '--json']);
  const created = await emulated('conversation', 'create', '--channel', 'channel');
  const [{ conversation }] = created.lines() as [{ conversation: { id: string } }];
  const sent = await emulated('message', 'send', '--conversation', conversation.id, '--text', 'Hello');
  expect(sent).toMatchObject({ code: 0, stderr: '' });
  expect(site.emulator.counts.size).toBe(0);
});

test('a chat address that hangs is given up after upload.stallTimeout, and Ctrl-C ends the wait', async () => {
  const site = await createChatSite();
  const silent = await listen(() => undefined);
  try {
    const send = ['message', 'send', '--conversation', 'c', '--text', 'x'];
    site.configure({ chatUrl: silent.url }, { upload: { stallTimeout: '1s' } });
    const outcome = await site.botsync(...send);
    expect(outcome.code).toBe(3);
    expect(outcome.stderr).toMatch(
      /^the message could not be sent: no answer within upload\.stallTimeout\n/u,
    );
    site.configure({ chatUrl: silent.url });
    const before = silent.connections();
    const running = start(site.directory, send, site.env);
    await expect.poll(() => silent.connections(), { timeout: 20_000 }).toBeGreaterThan(before);
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
  } finally {
    await silent.close();
  }
});

test('what the platform says cannot command the terminal, and secrets that it repeats are not shown', async () => {
  const site = await createChatSite();
  const evil = '\u001b[31m\u009b2J\u202e';
  const server = await listen((request, response) => {
    response.setHeader('content-type', 'application/json');
    const secret = request.headers['authorization'] ?? '';
    if (request.url?.startsWith('/v1/admin/bots') === true)
      response.end(JSON.stringify({ bots: [{ id: 'b', name: evil, echo: secret, apiKey: 'hidden' }] }));
    else response.writeHead(400).end(JSON.stringify({ message: `${evil} ${secret}`, type: 'Odd' }));
  });
  try {
    site.configure({ baseUrl: server.url });
    for (const args of [
      ['bots'],
      ['bots', '--json'],
      ['bots', '--json', '--show-secrets'],
      ['integration', 'x'],
    ]) {
      const { stdout, stderr } = await site.botsync(...args);
      expect(stdout + stderr).not.toMatch(/[\u001b\u009b\u202e]/u);
      expect(stdout + stderr).not.toContain(site.emulator.token);
      expect(stdout.includes('hidden')).toBe(args.includes('--show-secrets'));
    }
    const json = await site.botsync('bots', '--json');
    expect(json.lines()).toMatchObject([{ bots: [{ name: evil, echo: 'Bearer ***', apiKey: '***' }] }]);
  } finally {
    await server.close();
  }
});

test('a pipe that is closed early is no failure', async () => {
  const site = await createChatSite({
    bots: Array.from({ length: 300 }, (_, n) => ({ id: `b${n}`, name: 'x' })),
  });
  const running = start(site.directory, ['bots'], site.env);
  running.child.stdout?.destroy();
  await once(running.child, 'exit');
  expect(running.child.exitCode).toBe(0);
});
