import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect } from 'vitest';
import { startEmulator, type Emulator } from '../../src/emulator/emulator.ts';
import { fuzz, pieces } from './edge.ts';

/** A request as it goes over the wire; `{token}` and its like stand for what this emulator was started with. */
interface RawRequest {
  /** Instead of all else: bytes that need not be HTTP, as Latin-1. */
  readonly bytes?: string;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** What Content-Length says beyond the body's length; `null`: it says nothing. */
  readonly lengthError: number | null;
}

let emulator: Emulator;
let dataDir: string;
let given: Readonly<Record<string, string>>;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'botsync-fuzz-'));
  emulator = await startEmulator({ dataDir, bots: [{ id: 'bot', name: 'Bot' }] });
  const { token, workspaceId, webhookId, userKey } = emulator;
  given = { token, workspace: workspaceId, webhook: webhookId, userKey };
});
afterAll(async () => {
  // What it took can still be read.
  expect(emulator.listFiles('bot').length).toBeGreaterThan(0);
  expect(emulator.listConversations('bot').length).toBeGreaterThan(0);
  await emulator.close();
  rmSync(dataDir, { recursive: true });
});

/** Within the 90 days that the platform allows. */
const soon = new Date(Date.now() + 86_400_000).toISOString();

const SEGMENTS = [
  ...[
    'v1',
    'files',
    'admin',
    'bots',
    'hub',
    'integrations',
    'chat',
    'conversations',
    'messages',
    'users',
    'me',
    'hello',
  ],
  ...[
    'participants',
    'get-or-create',
    'upload',
    'content',
    '{webhook}',
    '',
    '.',
    '..',
    'latest',
    '%5E1.0.0',
    '%00',
    '%ff',
    '%',
  ],
  ...[
    'k',
    '__proto__',
    'constructor',
    '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    'a%2Fb',
    '🙂',
    '\u0000',
    'c',
    'user',
  ],
];

const path = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      ...[
        '/v1/files',
        '/v1/files/k',
        '/v1/admin/bots',
        '/v1/admin/hub/integrations/webchat/latest',
        '/v1/chat/conversations',
      ],
      ...[
        '/chat/{webhook}/messages',
        '/chat/{webhook}/users',
        '/chat/{webhook}/users/me',
        '/chat/{webhook}/hello',
        '/',
      ],
      ...[
        '/chat/{webhook}/conversations',
        '/chat/{webhook}/conversations/c',
        '/chat/{webhook}/conversations/c/participants',
      ],
      ...[
        '/chat/{webhook}/conversations/get-or-create',
        '/chat/{webhook}/users/get-or-create',
        '/upload/u',
        '/content/f',
      ],
      ...['/chat/{webhook}/conversations/c/messages', '/chat/{webhook}/conversations/c/participants/u'],
    ),
  },
  {
    weight: 1,
    arbitrary: fc.array(fc.constantFrom(...SEGMENTS), { maxLength: 7 }).map((parts) => `/${parts.join('/')}`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '*',
      'http://other.test/v1/files',
      '//v1/files',
      '',
      '/v1/files#x',
      '?',
      `/${'a/'.repeat(5_000)}`,
    ),
  },
);

const parameter = fc.tuple(
  fc.oneof(
    fc.constantFrom(
      'nextToken',
      'pageSize',
      'tags',
      'tags[a]',
      'tags.a',
      'tags[__proto__]',
      'ids',
      'ids[]',
      'sortField',
      'sortDirection',
    ),
    fc.constantFrom(
      'bot',
      'conversation',
      'files',
      'messages',
      'conversations',
      'X-Amz-Date',
      'X-Amz-Expires',
      'X-Amz-Signature',
    ),
  ),
  fc.oneof(
    fc.constantFrom(
      '',
      '0',
      '1',
      '-1',
      '1e9',
      '9007199254740993',
      'NaN',
      'bot',
      'c',
      'key',
      'size',
      'asc',
      'status',
      '%7B%22a%22%3A%22b%22%7D',
    ),
    fc.constantFrom(
      '%7B',
      'null',
      '%00',
      '%ff',
      '%',
      '=+/',
      'MQ===+/',
      'WyIiXQ===+/',
      '20260301T120000Z',
      '🙂',
      '%ED%A0%80',
    ),
    fc.string({ maxLength: 12 }).map((text) => `${Buffer.from(text).toString('base64')}=+/`),
    fc
      .tuple(
        fc.constantFrom('key', 'size', 'createdAt', 'x'),
        fc.constantFrom('asc', 'desc'),
        fc.oneof(fc.string(), fc.double()),
        fc.string(),
      )
      .map((position) =>
        encodeURIComponent(`${Buffer.from(JSON.stringify(position)).toString('base64')}=+/`),
      ),
  ),
);

const target = fc
  .tuple(path, fc.array(parameter, { maxLength: 3 }))
  .map(([one, query]) =>
    query.length === 0 ? one : `${one}?${query.map((pair) => pair.join('=')).join('&')}`,
  );

const HEADERS = [
  ['authorization', '{token}'],
  ['x-bot-id', 'bot'],
  ['x-workspace-id', '{workspace}'],
  ['x-user-key', '{userKey}'],
  ['content-type', 'application/json'],
] as const;

const STORE_HEADERS = [['content-type', 'application/octet-stream']] as const;

const oddHeader = fc.tuple(
  fc.oneof(
    fc.constantFrom(
      'authorization',
      'x-bot-id',
      'x-workspace-id',
      'x-user-key',
      'content-type',
      'x-integration-id',
      'x-integration-alias',
    ),
    fc.constantFrom(
      'x-multiple-integrations',
      'x-amz-tagging',
      'host',
      'expect',
      'transfer-encoding',
      'connection',
      'upgrade',
      '__proto__',
    ),
  ),
  fc.oneof(
    fc.constantFrom(
      '',
      'Bearer',
      'Bearer  x',
      'bot',
      'nobody',
      '{userKey}',
      'application/json; charset=x',
      'text/plain',
      'true',
      '100-continue',
    ),
    fc.constantFrom(
      'chunked',
      'localhost',
      'evil.test',
      '[::1]:80',
      '[',
      'websocket',
      '\u00e9',
      '\u00ff'.repeat(300),
      'a'.repeat(2_000),
    ),
    fc.string({ maxLength: 10 }),
  ),
);

const leaf = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    1,
    -1,
    0.5,
    1e308,
    2 ** 53,
    '',
    'k',
    'c',
    'text',
    'audio',
    'bot',
    'v1',
    'integrations',
  ),
  fc.constantFrom<unknown>(
    'public_content',
    '2026-03-02T00:00:00Z',
    '+275760-09-13T00:00:00Z',
    '9999-12-31T23:59:59.999Z',
    '\u0000',
    '\ud800',
    'a/b\r\nc: d',
  ),
  fc.string({ maxLength: 10, unit: 'binary' }),
);
const NAMES = [
  ...[
    'key',
    'size',
    'tags',
    'index',
    'indexing',
    'configuration',
    'stack',
    'parsing',
    'accessPolicies',
    'contentType',
    'expiresAt',
  ],
  ...[
    'publicContentImmediatelyAccessible',
    'metadata',
    'channel',
    'integrationName',
    'payload',
    'type',
    'text',
    'audioUrl',
  ],
  ...[
    'conversationId',
    'id',
    'name',
    'profile',
    'pictureUrl',
    'userId',
    '__proto__',
    'constructor',
    '',
    '\u0000',
    '$.a',
    '"',
  ],
];
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 5, noNullPrototype: true }),
  ),
}));

const body = fc.oneof(
  { weight: 3, arbitrary: value.map((one) => JSON.stringify(one)) },
  {
    weight: 1,
    arbitrary: pieces(['{', '}', '[', ']', '"', ':', ',', '\\', '\\u', '"key"', '1e999', '\ud800', '\0'], 20),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.nat({ max: 8_000 }), fc.constantFrom('metadata', 'tags', 'payload'))
      .map(
        ([depth, name]) => `{"key":"k","size":1,"${name}":${'{"a":['.repeat(depth)}${']}'.repeat(depth)}}`,
      ),
  },
);

/** An upsert that is taken, but for what the second half puts in. */
const file = fc
  .tuple(
    fc.record({
      key: fc.constantFrom('k', 'k', 'a/\u0000', '\ud800', 'x'.repeat(5_000)),
      size: fc.constantFrom<unknown>(0, 1),
      tags: fc.dictionary(fc.constantFrom(...NAMES), fc.string({ unit: 'binary' }), {
        noNullPrototype: true,
      }),
      metadata: fc.dictionary(fc.constantFrom(...NAMES), value, { noNullPrototype: true }),
      accessPolicies: fc.constantFrom<unknown>(['public_content'], ['integrations'], []),
      index: fc.boolean(),
    }),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant({}) },
      {
        weight: 1,
        arbitrary: fc.record(
          {
            size: leaf,
            tags: value,
            expiresAt: fc.constantFrom<unknown>(soon, '9999-12-31T23:59:59.999Z', '0000-01-01T00:00:00Z'),
            accessPolicies: value,
            indexing: fc.oneof(value, fc.record({ configuration: value })),
            contentType: fc.constantFrom<unknown>(
              'text/html',
              'a/b\r\nc: d',
              '\u00e9',
              ' ',
              'a'.repeat(20_000),
            ),
          },
          { requiredKeys: [] },
        ),
      },
    ),
  )
  .map(([sound, odd]) => ({ ...sound, ...odd }));

/** What each operation is for, with bodies that it takes or nearly takes. */
const asIntended: fc.Arbitrary<Pick<RawRequest, 'method' | 'target' | 'body'>> = fc.oneof(
  { weight: 4, arbitrary: intended('PUT', '/v1/files', file) },
  { weight: 2, arbitrary: intended('PUT', '{upload}', fc.constant('a')) },
  intended('GET', '{url}'),
  intended('GET', '/v1/files/{file}'),
  intended('DELETE', '/v1/files/k'),
  intended(
    'PUT',
    '/v1/files/{file}',
    fc.record({ tags: value, metadata: value, expiresAt: leaf }, { requiredKeys: [] }),
  ),
  intended('GET', '/v1/files'),
  intended('GET', '/v1/admin/bots'),
  intended(
    'POST',
    '/v1/chat/conversations',
    fc.record({
      channel: fc.constantFrom<unknown>('c', '', 'x'.repeat(201), 1),
      tags: fc.oneof(fc.constant({ a: 'b' }), value),
    }),
  ),
  intended(
    'POST',
    '/chat/{webhook}/conversations/get-or-create',
    fc.constantFrom<unknown>({ id: 'c' }, { id: '\ud800' }, {}),
  ),
  {
    weight: 3,
    arbitrary: intended(
      'POST',
      '/chat/{webhook}/messages',
      fc.record(
        {
          conversationId: fc.constantFrom('c', 'd'),
          payload: fc.record({
            type: fc.constantFrom<unknown>('text', 'audio', 'x', ''),
            text: fc.oneof(fc.string(), value),
            audioUrl: value,
          }),
          metadata: value,
        },
        { requiredKeys: ['conversationId', 'payload'] },
      ),
    ),
  },
  intended('GET', '/chat/{webhook}/conversations/c/messages'),
  intended(
    'POST',
    '/chat/{webhook}/users',
    fc.record({ id: leaf, name: leaf, profile: leaf }, { requiredKeys: [] }),
  ),
  intended(
    'POST',
    '/chat/{webhook}/conversations/c/participants',
    fc.record({ userId: fc.constantFrom('user', 'k', '') }),
  ),
  intended('GET', '/'),
  intended('GET', '/?bot=bot&conversation=c'),
);

function intended(
  method: string,
  where: string,
  content: fc.Arbitrary<unknown> = fc.constant(''),
): fc.Arbitrary<Pick<RawRequest, 'method' | 'target' | 'body'>> {
  return fc.tuple(content, fc.array(parameter, { maxLength: 1 })).map(([one, query]) => ({
    method,
    target:
      query.length === 0
        ? where
        : `${where}${where.includes('?') ? '&' : '?'}${query.map((pair) => pair.join('=')).join('&')}`,
    body: typeof one === 'string' ? one : JSON.stringify(one),
  }));
}

const anything = fc.record({
  method: fc.constantFrom('GET', 'PUT', 'POST', 'DELETE', 'HEAD', 'PATCH', 'OPTIONS', 'CONNECT', 'BREW'),
  target,
  body,
});

const garbage = fc.oneof(
  fc.constantFrom(
    '\r\n\r\n',
    'GET',
    'GET / HTTP/1.1\r\n\r\n',
    'PUT /v1/files HTTP/9.9\r\n\r\n',
    '\x16\x03\x01\x02',
  ),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
);

const request: fc.Arbitrary<RawRequest> = fc
  .record({
    core: fc.oneof(
      { weight: 6, arbitrary: asIntended },
      { weight: 1, arbitrary: fc.tuple(asIntended, body).map(([one, other]) => ({ ...one, body: other })) },
      { weight: 2, arbitrary: anything },
    ),
    headers: fc.oneof(
      { weight: 6, arbitrary: fc.constant([...HEADERS]) },
      { weight: 1, arbitrary: fc.subarray([...HEADERS]) },
    ),
    odd: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(oddHeader, { maxLength: 2 }) },
    ),
    lengthError: fc.oneof(
      { weight: 16, arbitrary: fc.constant<number | null>(0) },
      { weight: 1, arbitrary: fc.constantFrom(null, -3, 9) },
    ),
    bytes: fc.oneof({ weight: 16, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: garbage }),
  })
  .map(({ core, headers, odd, lengthError, bytes }) => ({
    ...core,
    // A store refuses the headers of the API.
    headers: [...(core.target === '{upload}' ? STORE_HEADERS : headers), ...odd],
    lengthError,
    ...(bytes !== null && { bytes }),
  }));

fuzz<readonly RawRequest[]>({
  name: 'emulator-requests',
  inputs: fc.array(request, { minLength: 1, maxLength: 3 }),
  check: async (requests) => {
    for (const one of requests) {
      const received = await exchange(one);
      noteAddresses(received);
      for (const answer of received.split(/(?=^HTTP\/1\.1 )/mu)) {
        if (answer === '') continue;
        const status = Number(/^HTTP\/1\.1 (\d{3}) /u.exec(answer)?.[1]);
        // 501 is what a store says to a body of no stated length.
        if (status !== 501) expect(status, answer).toBeLessThan(500);
        expect(answer).not.toMatch(/\n {4}at |\.[jt]s:\d+:\d+/u);
      }
    }
  },
});

/** Later requests can be about the file that an answer spoke of. */
function noteAddresses(answer: string): void {
  const upload = /"uploadUrl":"http:\/\/[^/]+([^"]+)"/u.exec(answer)?.[1];
  const url = /"url":"http:\/\/[^/]+([^"]+)"/u.exec(answer)?.[1];
  if (upload !== undefined) given = { ...given, upload };
  if (url !== undefined) given = { ...given, url, file: /file_[0-9a-f]+/u.exec(url)?.[0] ?? '' };
}

/** Sends a request on a connection of its own; everything that comes back until the connection ends, as Latin-1. */
async function exchange(request: RawRequest): Promise<string> {
  const { port } = new URL(emulator.baseUrl);
  const socket = connect(Number(port), '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // The emulator may end the connection while there is still something to send.
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.end(render(request));
  await closed;
  return Buffer.concat(chunks).toString('latin1');
}

function render({ bytes, method, target: where, headers, body: text, lengthError }: RawRequest): Buffer {
  if (bytes !== undefined) return Buffer.from(bytes, 'latin1');
  const fill = (one: string): string =>
    one.replace(/\{(\w+)\}/gu, (whole, name: string) => given[name] ?? whole);
  const content = Buffer.from(text);
  const lines = [
    `${method} ${fill(where)} HTTP/1.1`,
    'host: localhost',
    'connection: close',
    ...headers.map(
      ([name, held]) =>
        `${name}: ${name === 'authorization' && held === '{token}' ? 'Bearer ' : ''}${fill(held)}`,
    ),
    ...(lengthError === null ? [] : [`content-length: ${Math.max(0, content.length + lengthError)}`]),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'utf8'), content]);
}
