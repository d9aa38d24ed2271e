import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/emulator.ts';
import { findFile, readText, send, start, upload, upsert as upsertFile, type Clock } from './fixture.ts';

type Stored = Awaited<ReturnType<typeof upsert>>;

function headersOf(file: Stored): Record<string, string> {
  return { 'content-type': file.contentType, 'content-length': String(file.size) };
}

/** An upsert, with the size that its upload has to have. */
async function upsert(
  emulator: Emulator,
  body: Parameters<typeof upsertFile>[1],
): Promise<Awaited<ReturnType<typeof upsertFile>> & { size: number }> {
  return { ...(await upsertFile(emulator, body)), size: body.size };
}

/** Begins an upload, sends `part` of its content and waits until the emulator has begun to store it. */
async function beginUpload(
  emulator: Emulator,
  file: Stored,
  part: string | Buffer,
): Promise<ReturnType<typeof httpRequest>> {
  const uploading = httpRequest(file.uploadUrl, { method: 'PUT', headers: headersOf(file), agent: false });
  uploading.on('error', () => undefined);
  uploading.write(part);
  await expect.poll(() => emulator.counts.get('upload') ?? 0).toBeGreaterThan(0);
  return uploading;
}

describe('an upload', () => {
  test.each([
    ['an empty file', 0],
    ['a small file', 5_000],
    ['a file that is streamed', 3_000_000],
  ])('of %s stores every byte', async (_, size) => {
    const { emulator } = await start();
    const content = Buffer.alloc(size, 'abcdefg');
    const file = await upsert(emulator, { key: 'a.bin', size });
    const reply = await upload(file, content);
    expect(reply.status).toBe(200);
    expect(reply.headers['etag']).toMatch(/^".+"$/);
    expect(emulator.readContent('demo-bot', 'a.bin')?.equals(content)).toBe(true);
    expect(readdirSync(join(emulator.dataDir, 'incoming'))).toEqual([]);
  });

  test('carries the tagging that immediate access demands', async () => {
    const { emulator } = await start();
    const body = { accessPolicies: ['public_content'], publicContentImmediatelyAccessible: true };
    const file = await upsert(emulator, { key: 'a.txt', size: 3, ...body });
    expect((await upload(file, 'abc')).status).toBe(403);
    expect((await upload(file, 'abc', { 'x-amz-tagging': 'public=false' })).status).toBe(403);
    expect(findFile(emulator, 'a.txt')?.status).toBe('upload_pending');
    expect((await upload(file, 'abc', { 'x-amz-tagging': 'public=true' })).status).toBe(200);
    expect(readText(emulator, 'a.txt')).toBe('abc');
  });
});

describe('the object store refuses', () => {
  interface Attempt {
    readonly url?: (url: string) => string;
    readonly headers?: Record<string, string>;
    readonly content?: string;
    readonly before?: (emulator: Emulator, clock: Clock) => unknown;
  }

  const forbidden = [
    'authorization',
    'x-bot-id',
    'x-integration-id',
    'x-integration-alias',
    'x-integration-name',
    'x-user-id',
    'x-user-role',
    'x-user-key',
    'x-workspace-id',
    'x-multiple-integrations',
  ].map((name): [string, Attempt, number, string] => [
    `the header ${name}`,
    { headers: { [name]: 'x' } },
    400,
    'InvalidArgument',
  ]);

  test.each<[string, Attempt, number, string]>([
    ...forbidden,
    ['content too short', { content: 'ab' }, 403, 'SignatureDoesNotMatch'],
    ['content too long', { content: 'abcd' }, 403, 'SignatureDoesNotMatch'],
    ['another content type', { headers: { 'content-type': 'text/html' } }, 403, 'SignatureDoesNotMatch'],
    ['unwanted tagging', { headers: { 'x-amz-tagging': 'public=true' } }, 403, 'SignatureDoesNotMatch'],
    [
      'a wrong signature',
      { url: (url) => url.replace(/.$/, (c) => (c === '0' ? '1' : '0')) },
      403,
      'SignatureDoesNotMatch',
    ],
    ['no signature', { url: (url) => url.replace(/\?.*/, '') }, 403, 'SignatureDoesNotMatch'],
    [
      'a longer life',
      { url: (url) => url.replace('Expires=900', 'Expires=9000') },
      403,
      'SignatureDoesNotMatch',
    ],
    ['a later date', { url: (url) => url.replace('Date=2026', 'Date=2027') }, 403, 'SignatureDoesNotMatch'],
    ['another file', { url: (url) => url.replace(/upload\/./, 'upload/z') }, 403, 'SignatureDoesNotMatch'],
    ['an expired address', { before: (_, clock) => (clock.now += 900_001) }, 403, 'AccessDenied'],
    ['a superseded address', { before: (e) => upsert(e, { key: 'a.txt', size: 3 }) }, 404, 'NoSuchUpload'],
  ])('%s', async (_, attempt, status, code) => {
    const { emulator, clock } = await start();
    const file = await upsert(emulator, { key: 'a.txt', size: 3 });
    await attempt.before?.(emulator, clock);
    const content = attempt.content ?? 'abc';
    const reply = await send(
      (attempt.url ?? ((url) => url))(file.uploadUrl),
      'PUT',
      { 'content-type': 'text/plain', 'content-length': String(content.length), ...attempt.headers },
      content,
    );
    expect(reply.status).toBe(status);
    expect(reply.headers['content-type']).toBe('application/xml');
    expect(reply.text).toContain(`<Code>${code}</Code>`);
    expect(findFile(emulator, 'a.txt')?.content).toBeNull();
  });

  test('a missing content type', async () => {
    const { emulator } = await start();
    const file = await upsert(emulator, { key: 'a.txt', size: 3 });
    const reply = await send(file.uploadUrl, 'PUT', { 'content-length': '3' }, 'abc');
    expect(reply.status).toBe(403);
    expect(reply.text).toContain('content-type must be text/plain, not absent');
  });

  test('a chunked body', async () => {
    const { emulator } = await start();
    const file = await upsert(emulator, { key: 'a.txt', size: 3 });
    async function* chunks(): AsyncGenerator<Buffer> {
      yield await Promise.resolve(Buffer.from('abc'));
    }
    const reply = await send(file.uploadUrl, 'PUT', { 'content-type': 'text/plain' }, chunks());
    expect(reply.status).toBe(501);
    expect(reply.text).toContain('<Code>NotImplemented</Code>');
    expect(findFile(emulator, 'a.txt')?.content).toBeNull();
  });

  test('an address at its last second is good, and its life follows the option', async () => {
    const { emulator, clock } = await start({ uploadUrlLifetimeMs: 2_000 });
    const first = await upsert(emulator, { key: 'a.txt', size: 3 });
    clock.now += 1_500;
    expect((await upload(first, 'abc')).status).toBe(200);
    clock.now += 1;
    const late = await upload(first, 'abc');
    expect(late.status).toBe(403);
    expect(late.text).toContain('Request has expired');
  });
});

describe('an upload that is overtaken', () => {
  test.each([
    ['small', 10],
    ['large', 1_000_000],
  ])('cut midway stores nothing (%s)', async (_, size) => {
    const { emulator } = await start();
    const file = await upsert(emulator, { key: 'a.txt', size });
    const uploading = await beginUpload(emulator, file, Buffer.alloc(size - 1));
    uploading.destroy();
    await emulator.close();
    expect(readdirSync(join(emulator.dataDir, 'incoming'))).toEqual([]);
    expect(readdirSync(join(emulator.dataDir, 'content'))).toEqual([]);
    const { emulator: again } = await start({ dataDir: emulator.dataDir });
    expect(findFile(again, 'a.txt')).toMatchObject({ status: 'upload_pending', content: null });
  });

  test('by a newer upsert is not attached to it', async () => {
    const { emulator } = await start();
    const file = await upsert(emulator, { key: 'a.txt', size: 6 });
    const uploading = await beginUpload(emulator, file, 'old');
    await upsert(emulator, { key: 'a.txt', size: 6 });
    const answered = once(uploading, 'response') as Promise<[{ statusCode: number }]>;
    uploading.end('old');
    expect((await answered)[0].statusCode).toBe(404);
    expect(findFile(emulator, 'a.txt')).toMatchObject({ status: 'upload_pending', content: null });
    expect(readdirSync(join(emulator.dataDir, 'incoming'))).toEqual([]);
  });
});
