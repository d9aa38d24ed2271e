import { describe, expect, test } from 'vitest';
import type { FileKey } from '../../src/domain/key.ts';
import { PlatformLookups } from '../../src/platform/lookups.ts';
import { NEVER } from './fixture.ts';
import { callerHeaders, kindOf, messageOf, play, say, type Operations } from './operations-fixture.ts';

const KEY = 'docs/a b.md' as FileKey;

function lookups({ http, url, retries }: Operations): PlatformLookups {
  const caller = { token: 'bp_pat_x', identityHeaders: { 'x-integration-id': 'i' } };
  return new PlatformLookups(http, url, 'bot-1', caller, retries);
}

const FOUND = {
  content: 'How to pay',
  score: 0.8,
  meta: { type: 'Chunk', pageNumber: 3 },
  file: { id: 'f', key: KEY, contentType: 'text/markdown', tags: {}, metadata: {} },
};

test('a search asks as this bot, with tags and a limit', async () => {
  const platform = await play([say(200, { passages: [FOUND] })]);
  const query = { query: 'pay & go?', tags: { lang: 'de', 'a b': 'c' }, limit: 5 };
  expect(await lookups(platform).search(query, NEVER)).toEqual({
    kind: 'ok',
    value: [{ text: 'How to pay', score: 0.8, key: KEY, type: 'Chunk', page: 3 }],
  });
  const [seen] = platform.seen;
  expect(seen?.url).toBe('/v1/files/search?query=pay+%26+go%3F&tags.lang=de&tags.a+b=c&limit=5');
  expect(callerHeaders(seen)).toEqual({
    authorization: 'Bearer bp_pat_x',
    'x-bot-id': 'bot-1',
    'x-integration-id': 'i',
  });
});

test('passages are asked for page by page, by the id of the file that has a key', async () => {
  const platform = await play([
    say(200, { file: { id: 'f/1' } }),
    say(200, { passages: [{ content: 'one', meta: {} }], meta: { nextToken: 'n' } }),
    say(200, { passages: [{ content: 'two' }], meta: {} }),
  ]);
  const id = await lookups(platform).idOf(KEY, NEVER);
  expect(id).toEqual({ kind: 'ok', value: 'f/1' });
  const passages = await lookups(platform).passagesOf('f/1', NEVER);
  expect(passages).toEqual({
    kind: 'ok',
    value: ['one', 'two'].map((text) => ({ text, type: null, page: null })),
  });
  expect(platform.seen.map(({ url }) => url)).toEqual([
    '/v1/files/docs%2Fa%20b.md',
    '/v1/files/f%2F1/passages',
    '/v1/files/f%2F1/passages?nextToken=n',
  ]);
});

test('a list of passages that leads back to an earlier page is given up', async () => {
  const page = (nextToken: string) => say(200, { passages: [], meta: { nextToken } });
  const platform = await play([page('2'), page('3'), page('2')]);
  expect(messageOf(await lookups(platform).passagesOf('f', NEVER))).toBe('the list of passages does not end');
});

describe('an operation', () => {
  test.each([
    ['404 MethodNotFound', 404, { type: 'MethodNotFound', message: 'no' }, 'not-served'],
    ['404 without a type', 404, 'nothing here', 'not-served'],
    ['405', 405, {}, 'not-served'],
    ['501', 501, {}, 'not-served'],
    ['401', 401, { type: 'Unauthorized', message: 'no' }, 'credentials'],
    ['403', 403, { type: 'Forbidden', message: 'no' }, 'not-served'],
    ['404 ResourceNotFound', 404, { type: 'ResourceNotFound', message: 'no file' }, 'not-found'],
    ['400', 400, { type: 'InvalidPayload', message: 'no' }, 'refused'],
    ['500', 500, { type: 'Internal', message: 'no' }, 'transient'],
    ['an answer that makes no sense', 200, { passages: [{ score: 1 }] }, 'transient'],
  ] as const)('that is answered with %s is %s', async (_, status, body, kind) => {
    const platform = await play([say(status, body)]);
    const query = { query: 'x', tags: {}, limit: null };
    const outcome = await lookups(platform).search(query, NEVER);
    expect(kindOf(outcome)).toBe(kind);
    if (kind === 'not-served') expect(platform.seen).toHaveLength(1);
  });
});
