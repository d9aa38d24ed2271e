import fc from 'fast-check';
import { wordsOf } from './edge.ts';
import { body, file, leaf, value } from './request-bodies.ts';
import { parameter, target } from './request-targets.ts';

/** A request as it goes over the wire; `{token}` and its like stand for what this emulator was started with. */
export interface RawRequest {
  /** Instead of all else: bytes that need not be HTTP, as Latin-1. */
  readonly bytes?: string;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** What Content-Length says beyond the body's length; `null`: it says nothing. */
  readonly lengthError: number | null;
}

/** The bytes of a request. `given`: what its `{names}` stand for. */
export function renderRequest(
  { bytes, method, target: where, headers, body: text, lengthError }: RawRequest,
  given: Readonly<Record<string, string>>,
): Buffer {
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
      ...wordsOf(`
    authorization x-bot-id x-workspace-id x-user-key content-type x-integration-id
    x-integration-alias
  `),
    ),
    fc.constantFrom(
      ...wordsOf(`
    x-multiple-integrations x-amz-tagging host expect transfer-encoding connection upgrade __proto__
  `),
    ),
  ),
  fc.oneof(
    fc.constantFrom(
      ...wordsOf('Bearer bot nobody {userKey} text/plain true 100-continue'),
      '',
      'Bearer  x',
      'application/json; charset=x',
    ),
    fc.constantFrom(
      '\u00ff'.repeat(300),
      'a'.repeat(2_000),
      ...wordsOf('chunked localhost evil.test [::1]:80 [ websocket'),
      '\u00e9',
    ),
    fc.string({ maxLength: 10 }),
  ),
);

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
  intended('GET', '/v1/files/search?query=a'),
  intended('GET', '/v1/files/{file}/passages'),
  intended('POST', '/v1/files/{file}/c', fc.record({ overwrite: leaf }, { requiredKeys: [] })),
  intended('GET', '/v1/admin/usages/bot?type=storage_count'),
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
  method: fc.constantFrom(...wordsOf('GET PUT POST DELETE HEAD PATCH OPTIONS CONNECT BREW')),
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

/** Requests as they are meant, nearly so, and garbage. */
export const request: fc.Arbitrary<RawRequest> = fc
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
