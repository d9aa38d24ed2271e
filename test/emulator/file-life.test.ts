import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { errorBody, findFile, readText, send, start, store, upload, upsert } from './fixture.ts';

describe('the status', () => {
  test.each([
    ['a.txt', { index: false }, 'upload_completed', 'upload_completed'],
    ['a.txt', { index: true }, 'indexing_pending', 'indexing_completed'],
    ['a.DOCX', { index: true }, 'indexing_pending', 'indexing_completed'],
    ['a.png', { index: true }, 'indexing_pending', 'indexing_failed'],
    ['txt', { index: true }, 'indexing_pending', 'indexing_failed'],
  ])('of %s with %o becomes %s, then %s', async (key, body, afterUpload, atLast) => {
    const { emulator, clock } = await start({ indexingDelayMs: 2_000 });
    const file = await upsert(emulator, { key, size: 3, ...body });
    expect(findFile(emulator, key)?.status).toBe('upload_pending');
    await upload(file, 'abc');
    expect(findFile(emulator, key)?.status).toBe(afterUpload);
    clock.now += 1_999;
    expect(findFile(emulator, key)?.status).toBe(afterUpload);
    clock.now += 1;
    const last = findFile(emulator, key);
    expect(last?.status).toBe(atLast);
    expect(last?.failedStatusReason !== undefined).toBe(atLast === 'indexing_failed');
  });

  test('is terminal at once without a delay, by the list of the option', async () => {
    const { emulator } = await start({ limits: { indexableExtensions: ['png'] } });
    await store(emulator, 'a.png', 'abc', { index: true });
    await store(emulator, 'a.txt', 'abc', { index: true });
    expect(findFile(emulator, 'a.png')?.status).toBe('indexing_completed');
    expect(findFile(emulator, 'a.txt')).toMatchObject({
      status: 'indexing_failed',
      failedStatusReason: 'Indexing of ".txt" files is not supported',
    });
  });
});

describe('expiry', () => {
  const expiresAt = '2026-03-01T12:05:30Z';
  const expiry = Date.parse('2026-03-01T12:05:00Z');

  test('takes file and content at the truncated minute', async () => {
    const { emulator, clock } = await start();
    const file = await store(emulator, 'a.txt', 'abc', { expiresAt, accessPolicies: ['public_content'] });
    const path = findFile(emulator, 'a.txt')?.content?.path ?? '';
    await store(emulator, 'b.txt', 'stays');
    clock.now = expiry - 1;
    expect((await send(file.url, 'GET', {})).status).toBe(200);
    clock.now = expiry;
    expect((await send(file.url, 'GET', {})).status).toBe(404);
    expect(findFile(emulator, 'a.txt')).toBeNull();
    expect(existsSync(path)).toBe(false);
    expect(readText(emulator, 'b.txt')).toBe('stays');
  });

  test('is put off by a new upsert, with or without an expiry', async () => {
    const { emulator, clock } = await start();
    await store(emulator, 'a.txt', 'abc', { expiresAt });
    await store(emulator, 'a.txt', 'abc', { expiresAt: '2026-03-01T12:06:00Z' });
    await store(emulator, 'b.txt', 'abc', { expiresAt });
    await store(emulator, 'b.txt', 'abc');
    clock.now = expiry;
    expect(readText(emulator, 'a.txt')).toBe('abc');
    clock.now += 60_000;
    expect(readText(emulator, 'a.txt')).toBeNull();
    expect(readText(emulator, 'b.txt')).toBe('abc');
  });

  test('is caught up with when the emulator starts', async () => {
    const { emulator } = await start();
    await store(emulator, 'a.txt', 'abc', { expiresAt });
    const path = findFile(emulator, 'a.txt')?.content?.path ?? '';
    await emulator.close();
    await start({ dataDir: emulator.dataDir, now: () => expiry });
    expect(existsSync(path)).toBe(false);
  });
});

describe('the content at url', () => {
  test('is public with public_content', async () => {
    const { emulator } = await start();
    const file = await store(emulator, 'a.html', '<p>hello</p>', { accessPolicies: ['public_content'] });
    expect(file.url).not.toContain('?');
    const reply = await send(file.url, 'GET', {});
    expect(reply).toMatchObject({ status: 200, text: '<p>hello</p>' });
    expect(reply.headers).toMatchObject({ 'content-type': 'text/html', 'content-length': '12' });
    const head = await send(file.url, 'HEAD', {});
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(head.headers['content-length']).toBe('12');
  });

  test('needs a signature otherwise', async () => {
    const { emulator } = await start();
    const file = await store(emulator, 'a.html', 'secret', { accessPolicies: ['integrations'] });
    expect((await send(file.url, 'GET', {})).text).toBe('secret');
    const plain = file.url.replace(/\?.*/, '');
    expect((await send(plain, 'GET', {})).status).toBe(403);
    expect((await send(`${plain}?X-Amz-Signature=${'0'.repeat(64)}`, 'GET', {})).status).toBe(403);
    const other = await store(emulator, 'b.html', 'other');
    const foreign = `${plain}?${new URL(other.url).search.slice(1)}`;
    expect((await send(foreign, 'GET', {})).status).toBe(403);
  });

  test('has an address that is good for a while, unless it is public', async () => {
    const { emulator, clock } = await start();
    const file = await store(emulator, 'a.txt', 'abc');
    const shared = await store(emulator, 'b.txt', 'abc', { accessPolicies: ['public_content'] });
    clock.now += 3_601_000;
    expect((await send(file.url, 'GET', {})).status).toBe(403);
    expect((await send(file.url.replace('Expires=3600', 'Expires=9999'), 'GET', {})).status).toBe(403);
    expect((await send(findFile(emulator, 'a.txt')?.url ?? '', 'GET', {})).text).toBe('abc');
    expect((await send(shared.url, 'GET', {})).status).toBe(200);
  });

  test('is not there before the upload, after another upsert and for unknown files', async () => {
    const { emulator } = await start();
    const body = { accessPolicies: ['public_content'] };
    const file = await upsert(emulator, { key: 'a.txt', size: 3, ...body });
    expect((await send(file.url, 'GET', {})).status).toBe(404);
    await upload(file, 'abc');
    expect((await send(file.url, 'GET', {})).status).toBe(200);
    await upsert(emulator, { key: 'a.txt', size: 3, ...body });
    expect((await send(file.url, 'GET', {})).status).toBe(404);
    expect((await send(`${emulator.baseUrl}/content/file_0`, 'GET', {})).status).toBe(404);
  });
});

test.each([
  ['GET', '/v1/nothing', 404, 'MethodNotFound'],
  ['GET', '/v1/files/%', 404, 'MethodNotFound'],
  ['GET', '/content/%', 404, 'MethodNotFound'],
  ['POST', '/v1/files', 405, 'MethodNotFound'],
  ['DELETE', '/v1/admin/bots', 405, 'MethodNotFound'],
  ['GET', '/chat/hook/hello', 404, 'ResourceNotFound'],
] as const)('%s %s is answered %i %s in the shape of the platform', async (method, path, code, type) => {
  const { emulator } = await start();
  const reply = await send(`${emulator.baseUrl}${path}`, method, {});
  expect(reply.status).toBe(code);
  expect(JSON.parse(reply.text)).toEqual(errorBody(code, type));
});
