import { describe, expect, test } from 'vitest';
import type { OptionalFailure, Outcome } from '../../src/domain/failure.ts';
import type { CatalogFile } from '../../src/domain/file-catalog.ts';
import { PlatformCatalog } from '../../src/platform/catalog.ts';
import { start, store } from '../emulator/fixture.ts';
import { connect, NEVER, upsertBody } from './fixture.ts';
import { callerHeaders, drop, kindOf, play, say, type Operations } from './operations-fixture.ts';

const TOKEN = 'bp_pat_Zx81-very/secret+token=';
const BOT = 'bot-1';

function catalogOf({ http, url }: Pick<Operations, 'http' | 'url'>, token = TOKEN): PlatformCatalog {
  return new PlatformCatalog(http, url, { token, identityHeaders: { 'x-integration-id': 'i' } });
}

/** The least that an answer may say of a file. */
const BARE = { id: 'f1', key: 'a.md' };

/** What is made of that. */
const BARE_READ: CatalogFile = {
  id: 'f1',
  key: 'a.md',
  sizeBytes: null,
  status: null,
  failedReason: null,
  contentType: null,
  tags: {},
  metadata: {},
  accessPolicies: [],
  index: null,
  expiresAtMs: null,
  ownerType: null,
  url: null,
};

type Ask = (catalog: PlatformCatalog) => Promise<Outcome<unknown, OptionalFailure>>;

const ASKS: Readonly<Record<string, Ask>> = {
  'a list': (catalog) => catalog.list(BOT, { kind: 'page', token: null }, NEVER),
  'a list by ids': (catalog) => catalog.list(BOT, { kind: 'ids', ids: ['f1'] }, NEVER),
  'a look at a file': (catalog) => catalog.get(BOT, 'f1', NEVER),
  'a change of facts': (catalog) => catalog.update(BOT, 'f1', { tags: {} }, NEVER),
  'a deletion': (catalog) => catalog.delete(BOT, 'f1', NEVER),
};

describe('requests', () => {
  test('a list goes page by page, the oldest first', async () => {
    const platform = await play([
      say(200, { files: [BARE], meta: { nextToken: 'a+b/c=' } }),
      say(200, { files: [], meta: {} }),
    ]);
    const catalog = catalogOf(platform);
    const first = await catalog.list(BOT, { kind: 'page', token: null }, NEVER);
    expect(first).toEqual({ kind: 'ok', value: { files: [BARE_READ], nextToken: 'a+b/c=' } });
    const second = await catalog.list(BOT, { kind: 'page', token: 'a+b/c=' }, NEVER);
    expect(second).toEqual({ kind: 'ok', value: { files: [], nextToken: null } });
    expect(platform.seen.map(({ method, url }) => `${method ?? ''} ${url ?? ''}`)).toEqual([
      'GET /v1/files?pageSize=100&sortField=createdAt&sortDirection=asc',
      'GET /v1/files?pageSize=100&sortField=createdAt&sortDirection=asc&nextToken=a%2Bb%2Fc%3D',
    ]);
    expect(callerHeaders(platform.seen[0])).toEqual({
      authorization: `Bearer ${TOKEN}`,
      'x-bot-id': BOT,
      'x-integration-id': 'i',
    });
  });

  test('ids are repeated, and asked for on one page, however small those of the platform are', async () => {
    const platform = await play([say(200, { files: [] })]);
    await catalogOf(platform).list(BOT, { kind: 'ids', ids: ['f1', 'f/2&ids=x', 'ü'] }, NEVER);
    expect(platform.seen[0]?.url).toBe('/v1/files?pageSize=100&ids=f1&ids=f%2F2%26ids%3Dx&ids=%C3%BC');
    const { emulator } = await start({ pageSize: 2 });
    const ids: string[] = [];
    for (const key of ['a', 'b', 'c']) ids.push((await store(emulator, key, key)).id);
    const { http } = connect(emulator.baseUrl);
    const catalog = new PlatformCatalog(http, emulator.baseUrl, {
      token: emulator.token,
      identityHeaders: {},
    });
    const listed = await catalog.list(emulator.bots[0]?.id ?? '', { kind: 'ids', ids }, NEVER);
    expect(listed).toMatchObject({ kind: 'ok', value: { nextToken: null } });
    expect(listed.kind === 'ok' && listed.value.files.map(({ key }) => key).sort()).toEqual(['a', 'b', 'c']);
  });

  test.each([
    ['docs/a b.md', 'docs%2Fa%20b.md'],
    ['100%/%2F', '100%25%2F%252F'],
    ['what?#&=+', 'what%3F%23%26%3D%2B'],
    ['ü/日本🚲', '%C3%BC%2F%E6%97%A5%E6%9C%AC%F0%9F%9A%B2'],
    ['...', '...'],
    ["a'(b)*", "a'(b)*"],
  ])('the name %s is one segment of the address, at every operation on one file', async (name, segment) => {
    const platform = await play([say(200, { file: BARE })]);
    const catalog = catalogOf(platform);
    await catalog.get(BOT, name, NEVER);
    await catalog.update(BOT, name, {}, NEVER);
    await catalog.delete(BOT, name, NEVER);
    expect(platform.seen.map(({ method, url }) => `${method ?? ''} ${url ?? ''}`)).toEqual([
      `GET /v1/files/${segment}`,
      `PUT /v1/files/${segment}`,
      `DELETE /v1/files/${segment}`,
    ]);
  });

  test.each(['', '.', '..', '\ud800'])('an id that leads elsewhere, %j, is not asked for', async (id) => {
    const platform = await play([say(200, { file: BARE })]);
    const catalog = catalogOf(platform);
    expect(kindOf(await catalog.get(BOT, id, NEVER))).toBe('refused');
    expect(kindOf(await catalog.update(BOT, id, {}, NEVER))).toBe('refused');
    expect(kindOf(await catalog.delete(BOT, id, NEVER))).toBe('refused');
    expect(platform.seen).toEqual([]);
  });

  test('a change says what changes and no more; null takes away', async () => {
    const platform = await play([say(200, { file: BARE })]);
    const catalog = catalogOf(platform);
    await catalog.update(BOT, 'f1', { tags: { a: 'b', c: null }, metadata: { m: null } }, NEVER);
    await catalog.update(BOT, 'f1', { expiresAtMs: Date.parse('2026-04-01T10:05:00Z') }, NEVER);
    await catalog.update(BOT, 'f1', { expiresAtMs: null, accessPolicies: ['public_content'] }, NEVER);
    expect(platform.seen.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      { tags: { a: 'b', c: null }, metadata: { m: null } },
      { expiresAt: '2026-04-01T10:05:00.000Z' },
      { expiresAt: null, accessPolicies: ['public_content'] },
    ]);
    expect(platform.seen[0]?.headers['content-type']).toBe('application/json');
  });

  test('each is sent once, whatever comes of it', async () => {
    for (const answer of [say(503, {}), say(429, {}), say(404, {}), drop]) {
      for (const ask of Object.values(ASKS)) {
        const platform = await play([answer]);
        await ask(catalogOf(platform));
        expect(platform.seen).toHaveLength(1);
      }
    }
  });
});

describe('answers', () => {
  test('a file is read with all that is said of it', async () => {
    const file = {
      ...BARE,
      size: 12,
      status: 'indexing_failed',
      failedStatusReason: 'no text',
      contentType: 'text/plain',
      tags: { a: 'b', odd: 7 },
      metadata: { any: [1, null] },
      accessPolicies: ['integrations', 5],
      index: true,
      expiresAt: '2026-04-01T10:05:00.000Z',
      owner: { type: 'bot', id: 'x' },
      url: 'https://store.test/a?sig=1',
      uploadUrl: 'https://store.test/put',
      news: 1,
    };
    const platform = await play([say(200, { file })]);
    expect(await catalogOf(platform).get(BOT, 'f1', NEVER)).toEqual({
      kind: 'ok',
      value: {
        id: 'f1',
        key: 'a.md',
        sizeBytes: 12,
        status: 'indexing_failed',
        failedReason: 'no text',
        contentType: 'text/plain',
        tags: { a: 'b' },
        metadata: { any: [1, null] },
        accessPolicies: ['integrations'],
        index: true,
        expiresAtMs: Date.parse('2026-04-01T10:05:00Z'),
        ownerType: 'bot',
        url: 'https://store.test/a?sig=1',
      },
    });
  });

  test('what of a file makes no sense is not known', async () => {
    const odd = {
      ...{ size: '12', status: 5, failedStatusReason: {}, contentType: null, tags: [], metadata: 'm' },
      ...{ accessPolicies: {}, index: 'yes', expiresAt: 'soon', owner: 'me', url: 7 },
    };
    const platform = await play([say(200, { file: { ...BARE, ...odd } })]);
    expect(await catalogOf(platform).get(BOT, 'f1', NEVER)).toEqual({ kind: 'ok', value: BARE_READ });
  });

  test.each<[string, unknown]>([
    ['no JSON', '<html>'],
    ['nothing', ''],
    ['a list where an object is expected', []],
    ['another resource', { bots: [] }],
    ['a file without an id', { file: { key: 'a' }, files: [{ key: 'a' }] }],
    ['a file with an empty id', { file: { id: '', key: 'a' }, files: [{ id: '', key: 'a' }] }],
    ['a file whose key is none', { file: { id: 'f', key: 5 }, files: [BARE, { id: 'f', key: 5 }] }],
    ['a file that is none', { file: null, files: [null] }],
  ])('%s is a transient failure', async (_, body) => {
    const asks = ['a list', 'a list by ids', 'a look at a file', 'a change of facts'];
    for (const name of asks) {
      const platform = await play([say(200, body)]);
      const outcome = await ASKS[name]?.(catalogOf(platform));
      expect(outcome, name).toMatchObject({
        failure: {
          kind: 'transient',
          message: expect.stringMatching(/^200 with an unexpected answer/u) as string,
        },
      });
    }
  });

  test('a next token that is none is a transient failure', async () => {
    const platform = await play([say(200, { files: [], meta: { nextToken: 7 } })]);
    expect(kindOf(await catalogOf(platform).list(BOT, { kind: 'page', token: null }, NEVER))).toBe(
      'transient',
    );
  });

  test.each<[string, number, unknown, string]>([
    ['an empty object', 200, {}, 'ok'],
    ['nothing', 200, '', 'transient'],
    ['no content', 204, '', 'transient'],
    ['a page of a proxy', 200, '<html>Please log in</html>', 'transient'],
  ])('a deletion that is answered with %s', async (_, status, body, kind) => {
    const platform = await play([say(status, body)]);
    expect(kindOf(await catalogOf(platform).delete(BOT, 'f1', NEVER))).toBe(kind);
  });
});

describe('refusals', () => {
  const rows: readonly (readonly [string, number, unknown, string])[] = [
    ['404 ResourceNotFound', 404, { type: 'ResourceNotFound', message: 'no' }, 'not-found'],
    ['404 MethodNotFound', 404, { type: 'MethodNotFound', message: 'no' }, 'not-served'],
    ['404 without a type', 404, 'nothing here', 'not-served'],
    ['404 of the other shape', 404, { type: 'ResourceNotFound', description: 'no' }, 'not-found'],
    ['405', 405, {}, 'not-served'],
    ['501', 501, '', 'not-served'],
    ['401', 401, { type: 'Unauthorized', message: 'no' }, 'credentials'],
    ['403', 403, { type: 'Forbidden', message: 'no' }, 'not-served'],
    ['403 QuotaExceeded', 403, { type: 'QuotaExceeded', message: 'no' }, 'quota'],
    ['402', 402, { type: 'PaymentRequired', message: 'no' }, 'quota'],
    ['400', 400, { type: 'InvalidPayload', message: 'no' }, 'refused'],
    ['409', 409, { type: 'ResourceLockedConflict', message: 'no' }, 'transient'],
    ['410', 410, { type: 'ResourceGone', message: 'no' }, 'refused'],
    ['429', 429, {}, 'transient'],
    ['500', 500, { type: 'Internal', message: 'no' }, 'transient'],
    ['502', 502, '<html>', 'transient'],
    ['504', 504, '', 'transient'],
    ['301', 301, '', 'transient'],
  ];

  test.each(rows)('%s means the same at every operation', async (_, status, body, kind) => {
    const headers: Record<string, string> =
      status === 301 ? { location: 'https://elsewhere.test/x?sig=1' } : {};
    for (const [name, ask] of Object.entries(ASKS)) {
      const platform = await play([say(status, body, headers)]);
      expect(kindOf(await ask(catalogOf(platform))), name).toBe(kind);
    }
  });

  test('no failure tells the token, or what signs an address', async () => {
    const signed = 'https://store.test/a?X-Amz-Signature=SECRET';
    const known = [TOKEN, encodeURIComponent(TOKEN), Buffer.from(TOKEN).toString('base64')];
    for (const word of known)
      for (const status of [200, 301, 400, 401, 403, 404, 405, 409, 429, 500, 501])
        for (const [name, ask] of Object.entries(ASKS)) {
          const said = { type: `Odd ${word}`, message: `${word} ${signed}`, description: word };
          const location = `https://u:${encodeURIComponent(TOKEN)}@h.test/?sig=SECRET`;
          const platform = await play([say(status, said, { location })]);
          const outcome = await ask(catalogOf(platform));
          if (outcome.kind === 'ok') continue;
          const told = JSON.stringify(outcome.failure);
          expect(told, `${name} ${status}`).not.toContain('SECRET');
          for (const one of known) expect(told, `${name} ${status}`).not.toContain(one);
        }
  });
});

test.each([
  [
    'a list by ids waits',
    (catalog: PlatformCatalog) => catalog.list(BOT, { kind: 'ids', ids: ['file_1'] }, NEVER),
    4,
  ],
  [
    'a page takes its turn',
    (catalog: PlatformCatalog) => catalog.list(BOT, { kind: 'page', token: null }, NEVER),
    0,
  ],
])('beside those of files %s', async (_, ask, filesBefore) => {
  const platform = await play([say(200, { files: [] })], {
    concurrency: 1,
    limits: { maxRequestsPerSecond: 1 },
  });
  const catalog = catalogOf(platform);
  await platform.pacer.turn('store', NEVER, 'question');
  const asked = ask(catalog);
  const files = ['a', 'b', 'c', 'd'].map((key) => platform.platform.upsert(BOT, upsertBody(key, 1), NEVER));
  await Promise.all([asked, ...files]);
  expect(platform.seen.map(({ method }) => method).indexOf('GET')).toBe(filesBefore);
});
