import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { findFile, put, readText, START, start, store, upsert } from './fixture.ts';

const DAY_MS = 86_400_000;

function at(offsetMs: number): string {
  return new Date(START + offsetMs).toISOString();
}

test.each([501, 5_000, 200_000])('a body nested %s deep is refused', async (depth) => {
  const { emulator } = await start();
  const body = `{"key":"k","size":1,"metadata":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`;
  const reply = await put(emulator, body);
  expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('The body is not JSON')]);
});

describe('an upsert that is accepted', () => {
  test('answers the whole File resource', async () => {
    const { emulator } = await start({ bots: [{ id: 'b1', name: 'Bot one' }] });
    const file = await upsert(emulator, {
      key: 'docs/a.pdf',
      size: 3,
      tags: { kind: 'page' },
      metadata: { pages: 7, nested: { a: [1] } },
      index: true,
      indexing: { configuration: { parsing: { mode: 'standard' }, stack: 'v2' } },
      accessPolicies: ['public_content', 'integrations'],
      publicContentImmediatelyAccessible: true,
      expiresAt: at(5 * 60_000),
    });
    expect(file).toEqual({
      id: expect.stringMatching(/^file_/) as string,
      botId: 'b1',
      key: 'docs/a.pdf',
      url: `${emulator.baseUrl}/content/${file.id}`,
      size: null,
      contentType: 'application/pdf',
      tags: { kind: 'page' },
      metadata: { pages: 7, nested: { a: [1] } },
      createdAt: new Date(START).toISOString(),
      updatedAt: new Date(START).toISOString(),
      accessPolicies: ['public_content', 'integrations'],
      index: true,
      status: 'upload_pending',
      owner: { type: 'bot', id: 'b1', name: 'Bot one', alias: '' },
      expiresAt: '2026-03-01T12:05:00.000Z',
      uploadUrl: expect.stringContaining(`${emulator.baseUrl}/upload/`) as string,
    });
  });

  test.each([
    ['a.PDF', 'application/pdf'],
    ['dir.html/notes.md', 'text/markdown'],
    ['pdf', 'application/octet-stream'],
    ['.html', 'application/octet-stream'],
    ['a.unknown-extension', 'application/octet-stream'],
  ])('infers the content type of %s as %s', async (key, contentType) => {
    const { emulator } = await start();
    expect((await upsert(emulator, { key, size: 1 })).contentType).toBe(contentType);
  });

  test.each([
    ['the largest file', { size: 1_000_000_000 }],
    ['the largest indexed file', { size: 95_000_000, index: true }],
    ['the longest tag', { size: 1, tags: { t: 'x'.repeat(1000) } }],
    ['the nearest expiry', { size: 1, expiresAt: '2026-03-01T12:01:00Z' }],
    ['the farthest expiry', { size: 1, expiresAt: at(90 * DAY_MS) }],
    ['an expiry by seconds beyond 90 days', { size: 1, expiresAt: at(90 * DAY_MS + 5_000) }],
  ])('takes %s', async (_, body) => {
    const { emulator } = await start();
    expect((await put(emulator, { key: 'a.txt', ...body })).status).toBe(200);
  });
});

describe('an existing key', () => {
  test('keeps id and creation and loses its content at once', async () => {
    const { emulator, clock } = await start();
    const first = await store(emulator, 'a.txt', 'old content', {
      tags: { old: 'yes' },
      accessPolicies: ['public_content'],
    });
    expect(readText(emulator, 'a.txt')).toBe('old content');
    const oldPath = findFile(emulator, 'a.txt')?.content?.path ?? '';
    expect(existsSync(oldPath)).toBe(true);
    clock.now += 5_000;
    const second = await upsert(emulator, { key: 'a.txt', size: 3 });
    expect(second).toMatchObject({
      id: first.id,
      createdAt: first.createdAt,
      updatedAt: new Date(START + 5_000).toISOString(),
      status: 'upload_pending',
      size: null,
      tags: {},
      accessPolicies: [],
    });
    expect(readText(emulator, 'a.txt')).toBeNull();
    expect(existsSync(oldPath)).toBe(false);
    expect(findFile(emulator, 'a.txt')?.content).toBeNull();
  });
});

describe('an upsert that is refused', () => {
  const valid = { key: 'a.txt', size: 1 };

  test.each<[string, unknown, RegExp]>([
    ['an unknown field', { ...valid, extra: 1 }, /extra/],
    ['no key', { size: 1 }, /key/],
    ['an empty key', { key: '', size: 1 }, /key/],
    ['a key that is no string', { key: 1, size: 1 }, /key/],
    ['no size', { key: 'a.txt' }, /size/],
    ['a negative size', { key: 'a.txt', size: -1 }, /size/],
    ['a fraction of a byte', { key: 'a.txt', size: 1.5 }, /size/],
    ['a size that is no number', { key: 'a.txt', size: '1' }, /size/],
    ['a tag that is no string', { ...valid, tags: { t: 1 } }, /tags\.t/],
    ['a tag too long', { ...valid, tags: { t: 'x'.repeat(1001) } }, /tags\.t/],
    ['tags that are no object', { ...valid, tags: ['t'] }, /tags/],
    ['metadata that is no object', { ...valid, metadata: 'm' }, /metadata/],
    ['an unknown policy', { ...valid, accessPolicies: ['everyone'] }, /accessPolicies/],
    ['a policy outside an array', { ...valid, accessPolicies: 'integrations' }, /accessPolicies/],
    ['index that is no boolean', { ...valid, index: 'true' }, /index/],
    ['indexing without configuration', { ...valid, indexing: {} }, /indexing/],
    ['an unknown field in indexing', { ...valid, indexing: { configuration: {}, more: 1 } }, /more/],
    ['an unknown field in configuration', { ...valid, indexing: { configuration: { more: 1 } } }, /more/],
    ['an empty content type', { ...valid, contentType: '' }, /contentType/],
    ['a content type with a line break', { ...valid, contentType: 'text/plain\r\nx: y' }, /contentType/],
    [
      'immediate access without the policy',
      { ...valid, publicContentImmediatelyAccessible: true },
      /public_content/,
    ],
    ['an expiry that is no date', { ...valid, expiresAt: 'tomorrow' }, /expiresAt/],
    ['an expiry with an offset', { ...valid, expiresAt: '2026-03-02T12:00:00+01:00' }, /expiresAt/],
    ['an expiry past after truncation', { ...valid, expiresAt: '2026-03-01T12:00:59Z' }, /future/],
    ['an index too large', { key: 'a.txt', size: 95_000_001, index: true }, /indexed/],
    ['a body that is no object', [valid], /expected object/],
    ['a body that is no JSON', '{"key":', /not JSON/],
  ])('%s: 400 InvalidPayload', async (_, body, message) => {
    const { emulator } = await start();
    const reply = await put(emulator, body);
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text)).toEqual({
      id: expect.stringMatching(/^err_/) as string,
      code: 400,
      type: 'InvalidPayload',
      message: expect.stringMatching(message) as string,
    });
    expect(emulator.listFiles('demo-bot')).toEqual([]);
  });

  test.each<[string, Record<string, string | null>, number, string]>([
    ['no token', { authorization: null }, 401, 'Unauthorized'],
    ['a wrong token', { authorization: 'Bearer wrong' }, 401, 'Unauthorized'],
    ['another scheme', { authorization: 'Basic abc' }, 401, 'Unauthorized'],
    ['no bot', { 'x-bot-id': null }, 400, 'InvalidPayload'],
    ['an unknown bot', { 'x-bot-id': 'nobody' }, 404, 'ResourceNotFound'],
    ['no content type', { 'content-type': null }, 415, 'UnsupportedMediaType'],
    ['another content type', { 'content-type': 'text/plain' }, 415, 'UnsupportedMediaType'],
    ['almost the content type', { 'content-type': 'application/json-seq' }, 415, 'UnsupportedMediaType'],
  ])('%s', async (_, headers, status, type) => {
    const { emulator } = await start();
    const reply = await put(emulator, valid, headers);
    expect(reply.status).toBe(status);
    expect(JSON.parse(reply.text)).toMatchObject({ code: status, type });
    expect(emulator.listFiles('demo-bot')).toEqual([]);
  });

  test('a charset in the content type is fine', async () => {
    const { emulator } = await start();
    expect((await put(emulator, valid, { 'content-type': 'application/json; charset=utf-8' })).status).toBe(
      200,
    );
  });

  test('a file too large: 413', async () => {
    const { emulator } = await start();
    const reply = await put(emulator, { key: 'a.txt', size: 1_000_000_001 });
    expect(reply.status).toBe(413);
    expect(JSON.parse(reply.text)).toMatchObject({ code: 413, type: 'LimitExceeded' });
  });

  test('a JSON body too large: 413', async () => {
    const { emulator } = await start();
    const reply = await put(emulator, { ...valid, metadata: { m: 'x'.repeat(1_000_000) } });
    expect(reply.status).toBe(413);
    expect(JSON.parse(reply.text)).toMatchObject({ code: 413, type: 'PayloadTooLarge' });
  });

  test('limits follow the options', async () => {
    const { emulator } = await start({ limits: { indexBytes: 10, fileBytes: 20 } });
    expect((await put(emulator, { key: 'a.txt', size: 10, index: true })).status).toBe(200);
    expect((await put(emulator, { key: 'a.txt', size: 11, index: true })).status).toBe(400);
    expect((await put(emulator, { key: 'a.txt', size: 21 })).status).toBe(413);
  });
});

describe('quotas', () => {
  test('File Storage counts every file of the workspace once', async () => {
    const { emulator, clock } = await start({
      bots: [
        { id: 'b1', name: '1' },
        { id: 'b2', name: '2' },
      ],
      quotas: { fileStorageBytes: 100 },
    });
    await upsert(emulator, { key: 'a.txt', size: 60, expiresAt: '2026-03-01T12:05:00Z' });
    await upsert(emulator, { key: 'a.txt', size: 70, expiresAt: '2026-03-01T12:05:00Z' });
    await upsert(emulator, { key: 'b.txt', size: 30 }, { 'x-bot-id': 'b2' });
    const refused = await put(emulator, { key: 'c.txt', size: 1 });
    expect(refused.status).toBe(403);
    expect(JSON.parse(refused.text)).toMatchObject({ type: 'QuotaExceeded' });
    clock.now += 5 * 60_000;
    await upsert(emulator, { key: 'c.txt', size: 70 });
  });

  test('Vector DB Storage counts indexed files only', async () => {
    const { emulator } = await start({ quotas: { vectorStorageBytes: 50 } });
    await upsert(emulator, { key: 'a.txt', size: 50, index: true });
    await upsert(emulator, { key: 'b.txt', size: 500 });
    expect((await put(emulator, { key: 'b.txt', size: 1, index: true })).status).toBe(403);
    await upsert(emulator, { key: 'a.txt', size: 50 });
    await upsert(emulator, { key: 'b.txt', size: 50, index: true });
  });

  test('a refused upsert leaves the old content alone', async () => {
    const { emulator } = await start({ quotas: { fileStorageBytes: 10 } });
    await store(emulator, 'a.txt', 'content');
    expect((await put(emulator, { key: 'a.txt', size: 11 })).status).toBe(403);
    expect(readText(emulator, 'a.txt')).toBe('content');
  });
});
