import fc from 'fast-check';
import { wordsOf } from './edge.ts';

const SEGMENTS = [
  ...wordsOf('v1 files admin bots hub integrations chat conversations messages users me hello'),
  ...wordsOf('participants get-or-create upload content {webhook} . .. latest %5E1.0.0 %00 %ff %'),
  '',
  ...wordsOf('k __proto__ constructor %2e%2e%2f%2e%2e%2fetc%2fpasswd a%2Fb 🙂 c user'),
  '\u0000',
];

const path = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      ...wordsOf(`
    /v1/files /v1/files/k /v1/admin/bots /v1/admin/hub/integrations/webchat/latest
    /v1/chat/conversations
  `),
      ...wordsOf(`
    /chat/{webhook}/messages /chat/{webhook}/users /chat/{webhook}/users/me /chat/{webhook}/hello /
  `),
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
      ...['/v1/files/search', '/v1/files/k/passages', '/v1/files/k/c', '/v1/admin/usages/bot'],
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
      `/${'a/'.repeat(5_000)}`,
      ...wordsOf('* http://other.test/v1/files //v1/files /v1/files#x ?'),
      '',
    ),
  },
);

/** A parameter of a query, the name and the value as they stand in it. */
export const parameter = fc.tuple(
  fc.oneof(
    fc.constantFrom(
      ...wordsOf(`
    nextToken pageSize tags tags[a] tags.a tags[__proto__] ids ids[] sortField sortDirection indexed
    query limit contextDepth type
  `),
    ),
    fc.constantFrom(
      ...wordsOf(`
    bot conversation files messages conversations X-Amz-Date X-Amz-Expires X-Amz-Signature
  `),
    ),
  ),
  fc.oneof(
    fc.constantFrom(
      ...wordsOf('0 1 -1 1e9 9007199254740993 NaN bot c key size asc status %7B%22a%22%3A%22b%22%7D'),
      '',
    ),
    fc.constantFrom(...wordsOf('%7B null %00 %ff % =+/ MQ===+/ WyIiXQ===+/ 20260301T120000Z 🙂 %ED%A0%80')),
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

/** Paths with queries, those of the operations and others. */
export const target = fc
  .tuple(path, fc.array(parameter, { maxLength: 3 }))
  .map(([one, query]) =>
    query.length === 0 ? one : `${one}?${query.map((pair) => pair.join('=')).join('&')}`,
  );
