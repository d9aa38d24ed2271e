import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/emulator.ts';
import { call, errorBody, findFile, start, store, upsert, upsertHeaders } from './fixture.ts';

type Headers = Record<string, string | null>;

interface Listed {
  readonly files: readonly { readonly key: string; readonly id: string }[];
  readonly meta: { readonly nextToken?: string };
}

const INTEGRATION = { 'x-integration-id': 'int1' };

function files(emulator: Emulator, query = '', headers: Headers = {}): ReturnType<typeof call> {
  return call(`${emulator.baseUrl}/v1/files${query}`, 'GET', { ...upsertHeaders(emulator), ...headers });
}

async function keys(emulator: Emulator, query = '', headers: Headers = {}): Promise<string[]> {
  const { status, body } = await files(emulator, query, headers);
  if (status !== 200) throw new Error(`the list answered ${status}`);
  return (body as Listed).files.map(({ key }) => key);
}

function one(
  emulator: Emulator,
  method: 'GET' | 'PUT' | 'DELETE',
  name: string,
  body: unknown = null,
  headers: Headers = {},
): ReturnType<typeof call> {
  const url = `${emulator.baseUrl}/v1/files/${encodeURIComponent(name)}`;
  return call(url, method, { ...upsertHeaders(emulator), ...headers }, body);
}

describe('the list of files', () => {
  test('shows the File resource without uploadUrl, the newest first', async () => {
    const { emulator, clock } = await start();
    await store(emulator, 'a.txt', 'abc');
    clock.now += 1000;
    await upsert(emulator, { key: 'b.txt', size: 1 });
    const { status, body } = await files(emulator);
    expect(status).toBe(200);
    const listed = emulator
      .listFiles('demo-bot')
      .map((file) => ({ ...file, size: file.content?.size ?? null, content: undefined }));
    expect(body).toEqual({ files: listed.toReversed(), meta: {} });
    expect(body).toMatchObject({ files: [{ key: 'b.txt' }, { key: 'a.txt', status: 'upload_completed' }] });
    expect(JSON.stringify(body)).not.toContain('uploadUrl');
  });

  test.each([
    ['?sortField=key&sortDirection=asc', ['a.md', 'b.txt', 'ä', 'ｚ', '😀']],
    ['?sortField=key', ['😀', 'ｚ', 'ä', 'b.txt', 'a.md']],
    ['?sortField=size', ['b.txt', 'a.md']],
    ['?sortField=updatedAt&sortDirection=asc', ['b.txt', 'ä', 'ｚ', '😀', 'a.md']],
    ['?sortField=createdAt&sortDirection=asc', ['a.md', 'b.txt', 'ä', 'ｚ', '😀']],
    // indexing_completed, upload_completed, upload_pending three times: by id.
    ['?sortField=status&sortDirection=asc', ['a.md', 'b.txt']],
  ])('%s', async (query, expected) => {
    const { emulator, clock } = await start();
    await upsert(emulator, { key: 'a.md', size: 1 });
    clock.now += 1000;
    await store(emulator, 'b.txt', '123456');
    clock.now += 1000;
    for (const [index, key] of ['ä', 'ｚ', '😀'].entries()) {
      await upsert(emulator, { key, size: index });
      clock.now += 1000;
    }
    await store(emulator, 'a.md', '12345', { index: true });
    expect((await keys(emulator, query)).slice(0, expected.length)).toEqual(expected);
    // The same in pages of two, whatever is equal.
    const paged: string[] = [];
    let token: string | undefined = '';
    while (token !== undefined) {
      const next: string = token === '' ? '' : `&nextToken=${encodeURIComponent(token)}`;
      const { body } = await files(emulator, `${query}&pageSize=2${next}`);
      paged.push(...(body as Listed).files.map(({ key }) => key));
      token = (body as Listed).meta.nextToken;
    }
    expect(paged).toEqual(await keys(emulator, query));
  });

  test('takes a filter by tags, all of them together', async () => {
    const { emulator } = await start();
    await upsert(emulator, { key: 'both', size: 0, tags: { kind: 'a b', 'dotted.name[1]': 'é' } });
    await upsert(emulator, { key: 'one', size: 0, tags: { kind: 'a b' } });
    await upsert(emulator, { key: 'other', size: 0, tags: { kind: 'b' } });
    expect(await keys(emulator, '?tags.kind=a%20b&tags.dotted.name[1]=%C3%A9')).toEqual(['both']);
    expect((await keys(emulator, '?tags.kind=a+b')).toSorted()).toEqual(['both', 'one']);
  });

  test('has at most 100 files a page, whatever is asked for', async () => {
    const { emulator } = await start();
    for (let count = 0; count < 101; count += 1) await upsert(emulator, { key: `${count}`, size: 0 });
    expect(await keys(emulator, '?pageSize=1000')).toHaveLength(100);
  });

  test.each([
    '?indexed=1',
    '?prefix=docs/',
    '?sortField=name',
    '?sortDirection=up',
    '?pageSize=0',
    '?nextToken=abc',
    '?tags.a=1&tags.a=2',
    `?${Array.from({ length: 51 }, (_, index) => `ids=${index}`).join('&')}`,
  ])('refuses %s', async (query) => {
    const { emulator } = await start();
    expect(await files(emulator, query)).toMatchObject({ status: 400, body: errorBody(400, 'InvalidQuery') });
  });

  test('refuses the token of a list that is sorted otherwise', async () => {
    const { emulator } = await start();
    for (const key of ['a', 'b']) await upsert(emulator, { key, size: 0 });
    const { body } = await files(emulator, '?sortField=key&pageSize=1');
    const token = encodeURIComponent((body as Listed).meta.nextToken ?? '');
    expect((await files(emulator, `?sortField=size&nextToken=${token}`)).status).toBe(400);
    expect((await files(emulator, `?sortField=key&nextToken=${token}`)).status).toBe(200);
  });
});

describe('whose files', () => {
  test('a bot sees all of its own, an integration its own and what is meant for integrations', async () => {
    const { emulator } = await start({ bots: ['b1', 'b2'].map((id) => ({ id, name: id })) });
    await upsert(emulator, { key: 'bot', size: 0 });
    const shared = await upsert(emulator, { key: 'shared', size: 0, accessPolicies: ['integrations'] });
    await upsert(emulator, { key: 'integration', size: 0 }, INTEGRATION);
    await upsert(emulator, { key: 'elsewhere', size: 0 }, { 'x-bot-id': 'b2' });
    const byKey = '?sortField=key&sortDirection=asc';
    expect(await keys(emulator, byKey)).toEqual(['bot', 'integration', 'shared']);
    expect(await keys(emulator, byKey, INTEGRATION)).toEqual(['integration', 'shared']);
    expect(await keys(emulator, byKey, { 'x-bot-id': 'b2' })).toEqual(['elsewhere']);
    expect((await one(emulator, 'GET', shared.id, null, INTEGRATION)).status).toBe(200);
    expect((await one(emulator, 'GET', 'bot', null, INTEGRATION)).status).toBe(404);
    expect((await one(emulator, 'GET', shared.id, null, { 'x-bot-id': 'b2' })).status).toBe(404);
    expect(await one(emulator, 'DELETE', shared.id, null, INTEGRATION)).toMatchObject({
      status: 403,
      body: errorBody(403, 'Forbidden'),
    });
  });

  test.each<[string, Headers, number]>([
    ['no token', { authorization: null }, 401],
    ['no bot', { 'x-bot-id': null }, 400],
    ['an unknown bot', { 'x-bot-id': 'nobody' }, 404],
  ])('%s: %s', async (_, headers, status) => {
    const { emulator } = await start();
    await upsert(emulator, { key: 'a', size: 0 });
    expect((await files(emulator, '', headers)).status).toBe(status);
    expect((await one(emulator, 'GET', 'a', null, headers)).status).toBe(status);
    expect((await one(emulator, 'DELETE', 'a', null, headers)).status).toBe(status);
    expect((await one(emulator, 'PUT', 'a', {}, headers)).status).toBe(status);
    expect(findFile(emulator, 'a')).not.toBeNull();
  });
});

test('deleting takes the file, its content and what it counts', async () => {
  const { emulator } = await start({ quotas: { fileStorageBytes: 3, vectorStorageBytes: 3 } });
  await store(emulator, 'docs/a.md', 'abc', { index: true });
  const path = findFile(emulator, 'docs/a.md')?.content?.path ?? '';
  expect(existsSync(path)).toBe(true);
  expect(await one(emulator, 'DELETE', 'docs/a.md')).toMatchObject({ status: 200, body: {} });
  expect(emulator.listFiles('demo-bot')).toEqual([]);
  expect(existsSync(path)).toBe(false);
  expect((await one(emulator, 'DELETE', 'docs/a.md')).status).toBe(404);
  await store(emulator, 'b.md', 'abc', { index: true });
});

describe('changing what is known of a file', () => {
  test('sets, moves and takes away the expiry', async () => {
    const { emulator, clock } = await start();
    const { id } = await store(emulator, 'a.txt', 'abc');
    await store(emulator, 'b.txt', 'abc', { expiresAt: '2026-03-01T12:05:00Z' });
    await one(emulator, 'PUT', id, { expiresAt: '2026-03-01T12:05:59Z' });
    expect(findFile(emulator, 'a.txt')?.expiresAt).toBe('2026-03-01T12:05:00.000Z');
    await one(emulator, 'PUT', id, { expiresAt: '2026-03-01T12:10:00Z' });
    await one(emulator, 'PUT', findFile(emulator, 'b.txt')?.id ?? '', { expiresAt: null });
    clock.now = Date.parse('2026-03-01T12:06:00Z');
    expect(emulator.listFiles('demo-bot')).toMatchObject([{ key: 'a.txt' }, { key: 'b.txt' }]);
    clock.now = Date.parse('2026-03-01T12:10:00Z');
    expect(emulator.listFiles('demo-bot')).toMatchObject([{ key: 'b.txt' }]);
  });

  test.each([
    [{ more: 1 }],
    [{ tags: { a: 1 } }],
    [{ tags: { a: 'x'.repeat(1001) } }],
    [{ metadata: [] }],
    [{ accessPolicies: ['all'] }],
    [{ expiresAt: '2026-03-01T12:00:59Z' }],
    [{ expiresAt: '2026-06-01T00:00:00Z' }],
    ['{'],
    [{ contentType: 'text/plain' }],
    [{ index: true }],
    [{ indexing: {} }],
    [{ size: 1 }],
    [{ key: 'b' }],
  ])('%o: 400', async (body) => {
    const { emulator } = await start();
    const { id } = await store(emulator, 'a.txt', 'abc');
    const before = findFile(emulator, 'a.txt');
    expect(await one(emulator, 'PUT', id, body)).toMatchObject({
      status: 400,
      body: errorBody(400, 'InvalidPayload'),
    });
    expect(findFile(emulator, 'a.txt')).toEqual(before);
  });

  test('a file that is not there, or named by its key: 404', async () => {
    const { emulator } = await start();
    await store(emulator, 'a.txt', 'abc');
    expect((await one(emulator, 'PUT', 'none', {})).status).toBe(404);
    expect((await one(emulator, 'PUT', 'a.txt', {})).status).toBe(404);
  });
});
