import fc from 'fast-check';
import { jsonValues, pieces, wordsOf } from './edge.ts';

/** Within the 90 days that the platform allows. */
const soon = new Date(Date.now() + 86_400_000).toISOString();

/** Values without parts that a field of a body may have. */
export const leaf = fc.oneof(
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
    ...wordsOf('k c text audio bot v1 integrations'),
    '',
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
  ...wordsOf(`
    key size tags index indexing configuration stack parsing accessPolicies contentType expiresAt
  `),
  ...wordsOf(`
    publicContentImmediatelyAccessible metadata channel integrationName payload type text audioUrl
  `),
  ...wordsOf('conversationId id name profile pictureUrl userId __proto__ constructor "'),
  '',
  '\u0000',
  '$.a',
];

/** Any value of JSON. */
export const value = jsonValues(leaf, NAMES, { depth: 5, items: 3, fields: 5 });

/** Texts in the place of a body: JSON, nearly JSON, and JSON nested deeply. */
export const body = fc.oneof(
  { weight: 3, arbitrary: value.map((one) => JSON.stringify(one)) },
  {
    weight: 1,
    arbitrary: pieces([...wordsOf('{ } [ ] " : , "key" 1e999'), '\\', '\\u', '\ud800', '\0'], 20),
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
export const file = fc
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
