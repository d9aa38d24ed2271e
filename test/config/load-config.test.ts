import { expect, test } from 'vitest';
import { renderProblem } from '../../src/config/problem.ts';
import { requirePlatform, type PlatformUse } from '../../src/config/require-platform.ts';
import { load } from './fixture.ts';

test('fills in the defaults, resolves paths, and counts durations in milliseconds', () => {
  expect(load({}).config).toEqual({
    file: '/etc/botsync/c.json',
    platform: {
      baseUrl: 'https://api.botpress.cloud',
      chatUrl: 'https://chat.botpress.cloud',
      workspaceId: null,
      botId: 'bot-1',
      token: null,
      chat: null,
      operations: 'auto',
      mark: true,
      identity: {},
    },
    sources: [
      {
        name: 'docs',
        directory: '/etc/botsync/docs',
        keyPrefix: '',
        botId: 'bot-1',
        token: null,
        ignore: [],
        symlinks: 'skip',
      },
    ],
    rules: [],
    limits: {
      indexBytes: 95_000_000,
      fileBytes: 1_000_000_000,
      indexableExtensions: ['pdf', 'html', 'htm', 'txt', 'md', 'mdx', 'doc', 'docx'],
    },
    removals: { mode: 'keep', delayMs: 60_000, maxCount: 100, maxFraction: 0.5 },
    upload: {
      concurrency: 8,
      attempts: 5,
      stallTimeoutMs: 30_000,
      giveUpAfterMs: 120_000,
      maxBytesPerSecond: null,
      maxRequestsPerSecond: null,
    },
    confirm: { waitMs: 30_000 },
    verify: { everyMs: 86_400_000, repair: true },
    watch: { settleMs: 500, maxDelayMs: 10_000, rescanMs: 900_000, poll: false, pollIntervalMs: 10_000 },
    service: { listen: null, control: null, hangTimeoutMs: 300_000, reloadOnChange: true },
    notify: null,
    cluster: null,
    stateFile: '/etc/botsync/.botsync/state.db',
  });
});

test('reads how people are told, with its defaults', () => {
  const rules = [{ match: '*.mp3', accessPolicies: ['public_content'] }];
  const created = { conversation: { channel: 'channel', integration: { name: 'webchat' } } };
  expect(load({ notify: created }).config.notify).toEqual({
    place: {
      kind: 'created',
      channel: 'channel',
      tags: {},
      integration: { name: 'webchat', version: 'latest' },
    },
    on: new Set(['failing', 'recovered', 'halted', 'expiring', 'credentials', 'summary']),
    quietMs: 900_000,
    summaryEveryMs: 86_400_000,
    announce: [],
  });
  const announce = [{ match: '*.mp3' }, { match: ['a/**', 'b/**'] }];
  const existing = { conversationId: 'conv_1', on: ['halted'], quiet: '1m', announce };
  expect(load({ rules, notify: existing }).config.notify).toMatchObject({
    place: { kind: 'existing', conversationId: 'conv_1' },
    on: new Set(['halted']),
    quietMs: 60_000,
    announce: ['*.mp3', 'a/**', 'b/**'],
  });
});

test('takes over what the file says', () => {
  const { config } = load({
    $schema: './config.schema.json',
    platform: {
      baseUrl: 'HTTPS://API.example/base//',
      workspaceId: 'ws',
      token: 'file:secrets/token',
      chat: { webhookId: 'w', userKey: 'credential:key' },
      operations: 'specified',
      identity: { userRole: 'admin' },
    },
    sources: [
      {
        name: 'a',
        directory: '/srv/a',
        botId: 'bot-a',
        token: 'env:TOKEN_A',
        keyPrefix: 'a/',
        ignore: ['*.x'],
        symlinks: 'inside',
      },
      { directory: '..', botId: 'bot-b' },
    ],
    limits: { indexBytes: 1, fileBytes: 2, indexableExtensions: ['.PDF', '*.md', 'pdf'] },
    removals: { mode: 'expire', delay: '1.5h', maxCount: 1, maxFraction: 1 },
    upload: { maxBytesPerSecond: 5, maxRequestsPerSecond: 6 },
    watch: { poll: true, settle: '250ms' },
    service: { listen: '127.0.0.1:9464' },
    stateFile: '/var/lib/botsync/state.db',
  });
  expect(config.platform).toEqual({
    baseUrl: 'https://api.example/base',
    chatUrl: 'https://chat.botpress.cloud',
    workspaceId: 'ws',
    botId: null,
    token: { kind: 'file', path: '/etc/botsync/secrets/token' },
    chat: { webhookId: 'w', userKey: { kind: 'credential', name: 'key' } },
    operations: 'specified',
    mark: true,
    identity: { userRole: 'admin' },
  });
  expect(config.sources).toEqual([
    {
      name: 'a',
      directory: '/srv/a',
      botId: 'bot-a',
      token: { kind: 'env', name: 'TOKEN_A' },
      keyPrefix: 'a/',
      ignore: ['*.x'],
      symlinks: 'inside',
    },
    {
      name: 'etc',
      directory: '/etc',
      botId: 'bot-b',
      token: null,
      keyPrefix: '',
      ignore: [],
      symlinks: 'skip',
    },
  ]);
  expect(config.limits).toEqual({ indexBytes: 1, fileBytes: 2, indexableExtensions: ['pdf', 'md'] });
  expect(config.removals).toEqual({ mode: 'expire', delayMs: 5_400_000, maxCount: 1, maxFraction: 1 });
  expect(config.upload).toMatchObject({ maxBytesPerSecond: 5, maxRequestsPerSecond: 6 });
  expect(config.watch).toMatchObject({ poll: true, settleMs: 250 });
  expect(config.service.listen).toEqual({ host: '127.0.0.1', port: 9464 });
  expect(config.stateFile).toBe('/var/lib/botsync/state.db');
});

test.each([
  ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
  ['0.0.0.0:65535', { host: '0.0.0.0', port: 65_535 }],
  ['[::1]:9464', { host: '::1', port: 9464 }],
  ['[::ffff:10.0.0.1]:80', { host: '::ffff:10.0.0.1', port: 80 }],
  [null, null],
])('listens at %s', (written, listen) => {
  expect(load({ service: { listen: written } }).config.service).toMatchObject({ listen });
});

test.each([
  [{ match: '**' }, { match: ['**'], sources: null, set: {} }],
  [
    { match: ['a', 'b'], source: 'docs' },
    { match: ['a', 'b'], sources: ['docs'], set: {} },
  ],
  [
    { match: 'a', source: ['docs'], expiresIn: '1d', renew: true, renewBefore: '1h' },
    {
      match: ['a'],
      sources: ['docs'],
      set: { expires: { kind: 'in', lifetimeMs: 86_400_000 }, renew: true, renewBeforeMs: 3_600_000 },
    },
  ],
  [
    { match: 'a', expiresAt: '2026-12-31T02:00:00+02:00' },
    { match: ['a'], sources: null, set: { expires: { kind: 'at', atMs: Date.UTC(2026, 11, 31) } } },
  ],
  [
    { match: 'a', expiresIn: null, renewBefore: null, tags: null, index: null, metadata: null },
    {
      match: ['a'],
      sources: null,
      set: { expires: null, renewBeforeMs: null, tags: null, index: null, metadata: null },
    },
  ],
  [
    { match: 'a', expiresAt: null },
    { match: ['a'], sources: null, set: { expires: null } },
  ],
  [
    {
      match: 'a',
      index: true,
      indexing: { configuration: {} },
      tags: { a: 'x', b: null },
      metadata: { n: 1, deep: [{ a: null }] },
      contentType: 'text/x; charset=utf-8',
      accessPolicies: ['integrations'],
      publicContentImmediatelyAccessible: false,
      whenTooLargeToIndex: 'skip',
    },
    {
      match: ['a'],
      sources: null,
      set: {
        index: true,
        indexing: { configuration: {} },
        tags: { a: 'x', b: null },
        metadata: { n: 1, deep: [{ a: null }] },
        contentType: 'text/x; charset=utf-8',
        accessPolicies: ['integrations'],
        publicContentImmediatelyAccessible: false,
        whenTooLargeToIndex: 'skip',
      },
    },
  ],
])('the rule %j', (written, rule) => {
  // Strict: a field that is there and undefined would hide what earlier rules said.
  expect(load({ rules: [written] }).config.rules).toStrictEqual([rule]);
});

const CHAT = { webhookId: '<webhook id>'.replace(' ', '_'), userKey: 'env:K' };

test.each<[PlatformUse, object, string[]]>([
  ['files', { botId: 'b', token: 'env:T' }, []],
  ['files', { botId: 'b' }, ['platform.token']],
  ['files', { botId: 'YOUR_BOT_ID', token: 'env:T' }, ['platform.botId']],
  [
    'files',
    { botId: '<bot-id>', token: 'env:T', identity: { userId: '<user id>' } },
    ['platform.botId', 'platform.identity.userId'],
  ],
  ['files', { botId: 'b', token: 'env:T', workspaceId: 'YOUR_WORKSPACE_ID' }, []],
  ['admin', { botId: 'YOUR_BOT_ID', token: 'env:T' }, ['platform.workspaceId']],
  ['admin', { botId: 'b', workspaceId: 'w' }, ['platform.token']],
  ['admin', { botId: 'b', token: 'env:T', workspaceId: 'YOUR_WORKSPACE_ID' }, ['platform.workspaceId']],
  ['conversation', { botId: 'your-bot-id' }, ['platform.botId', 'platform.token']],
  ['message', { botId: 'b' }, ['platform.chat']],
  ['message', { botId: 'b', chat: CHAT }, ['platform.chat.webhookId']],
  ['message', { botId: 'b', chat: { ...CHAT, webhookId: 'w' } }, []],
])('a real run for %s with %j lacks %j', (use, platform, fields) => {
  const problems = requirePlatform(load({ platform }), use);
  expect(problems.map(({ field }) => field)).toEqual(fields);
  for (const one of problems)
    expect(renderProblem(one)).toMatch(/^\/etc\/botsync\/c\.json:1:\d+: platform.*: is (?:missing|still)/u);
});

test("a real run looks at the sources' own bots", () => {
  const sources = [{ directory: './a', botId: 'YOUR_BOT_ID' }];
  const problems = requirePlatform(load({ platform: { token: 'env:T', botId: '<x>' }, sources }), 'files');
  expect(problems.map(({ field }) => field)).toEqual(['sources[0].botId']);
  const [lone] = requirePlatform(
    load({ platform: { token: 'env:T' }, sources: [{ directory: './a', botId: 'b' }] }),
    'conversation',
  );
  expect(lone?.field).toBe('platform.botId');
});

test.each<[object, object, string[]]>([
  [{ conversationId: 'c' }, {}, ['platform.chat']],
  [{ conversationId: '<id>' }, {}, ['notify.conversationId', 'platform.chat']],
  [{ conversation: { channel: 'c' } }, {}, ['platform.chat', 'platform.token']],
  [
    { conversation: { channel: 'c', integration: { name: 'webchat' } } },
    { chat: { webhookId: 'w', userKey: 'env:K' } },
    ['platform.token', 'platform.workspaceId'],
  ],
])('with notify %j and platform %j a real run lacks %j', (notify, platform, fields) => {
  const loaded = load({ platform: { botId: 'b', ...platform }, notify });
  expect(requirePlatform(loaded, 'notify').map(({ field }) => field)).toEqual(fields);
});

test.each<[unknown, unknown]>([
  [null, null],
  [5, 5],
  ['1MB', 1_000_000],
  ['10 MiB/s', 10_485_760],
  [
    { '08:00-18:00': '1MB', '22:30-06:00': 500, '18:00-22:30': '64k' },
    [
      { fromMinute: 480, untilMinute: 1080, bytesPerSecond: 1_000_000 },
      { fromMinute: 1350, untilMinute: 360, bytesPerSecond: 500 },
      { fromMinute: 1080, untilMinute: 1350, bytesPerSecond: 64_000 },
    ],
  ],
  [{ '00:00-24:00': 7 }, [{ fromMinute: 0, untilMinute: 1440, bytesPerSecond: 7 }]],
])('upload.maxBytesPerSecond: %j', (maxBytesPerSecond, meant) => {
  const { config } = load({ upload: { maxBytesPerSecond } });
  expect(config.upload.maxBytesPerSecond).toEqual(meant);
});
