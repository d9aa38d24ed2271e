import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { OutgoingContent } from '../../src/domain/file-catalog.ts';
import { start } from '../emulator/fixture.ts';
import {
  answerJson,
  connect,
  failureIn,
  inChunks,
  NEVER,
  readBody,
  serve,
  SimulatedClock,
} from './fixture.ts';
import { BOT, connectTo, IDENTITY, store, stream, whole } from './files-fixture.ts';

describe('an upload', () => {
  test.each([
    ['an empty file', 0],
    ['one byte', 1],
    ['a small file', 200_000],
    ['a streamed file', 300_000],
    ['a large streamed file', 5_000_000],
  ])('of %s has its length and its content', async (_, size) => {
    const { emulator } = await start({ recordRequests: true });
    const content = randomBytes(size);
    const sent = await store(connectTo(emulator), 'a.bin', size > 262_144 ? stream(content) : whole(content));
    expect(sent).toEqual({ kind: 'ok', value: null });
    const headers: IncomingHttpHeaders = emulator.requests[1]?.headers ?? {};
    expect(headers['content-length']).toBe(String(size));
    expect(headers).not.toHaveProperty('transfer-encoding');
    expect(emulator.readContent(BOT, 'a.bin')?.equals(content)).toBe(true);
  });

  test.each([
    ['whole', whole('abc')],
    ['streamed', stream(Buffer.alloc(300_000))],
  ])('%s has no header but its own', async (_, content) => {
    const { emulator } = await start({ recordRequests: true });
    const client = connectTo(emulator, { identityHeaders: IDENTITY });
    expect((await store(client, 'a.txt', content, { contentType: 'text/x-ours' })).kind).toBe('ok');
    expect(emulator.requests[1]?.operation).toBe('upload');
    expect(emulator.requests[1]?.headers).toEqual({
      host: new URL(emulator.baseUrl).host,
      connection: 'keep-alive',
      'content-type': 'text/x-ours',
      'content-length': String(content.kind === 'whole' ? 3 : 300_000),
    });
  });

  test('carries the tagging exactly when the content is public at once', async () => {
    const { emulator } = await start({ recordRequests: true });
    const client = connectTo(emulator);
    const more = { accessPolicies: ['public_content' as const] };
    expect((await store(client, 'a', whole('abc'), more)).kind).toBe('ok');
    const atOnce = { ...more, publicContentImmediatelyAccessible: true as const };
    expect((await store(client, 'b', whole('abc'), atOnce)).kind).toBe('ok');
    const uploads = emulator.requests.filter(({ operation }) => operation === 'upload');
    expect(uploads.map(({ headers }) => headers['x-amz-tagging'])).toEqual([undefined, 'public=true']);
  });

  test('has the content type of the returned file, not of the upsert', async () => {
    const seen: (string | undefined)[] = [];
    const server = await serve((request, response) => {
      void readBody(request).then(() => {
        if (request.url === '/v1/files') {
          answerJson(response, 200, { file: { uploadUrl: `${server.url}/up`, contentType: 'text/theirs' } });
        } else {
          seen.push(request.headers['content-type']);
          response.end();
        }
      });
    });
    expect((await store(connect(server.url), 'a', whole('abc'), { contentType: 'text/ours' })).kind).toBe(
      'ok',
    );
    expect(seen).toEqual(['text/theirs']);
  });

  test('goes to the address to the letter, query and all', async () => {
    const seen: unknown[] = [];
    const server = await serve((request, response) => {
      seen.push(request.url);
      response.end();
    });
    const path = '/bucket/a%20b%2Fc?X-Amz-Signature=0%2B1%3D&x=%E2%82%AC';
    const file = { uploadUrl: new URL(`${server.url}${path}`), contentType: 'a/b' };
    await connect('http://unused.test').platform.upload(file, whole('abc'), false, NEVER);
    expect(seen).toEqual([path]);
  });

  test.each<[number, 'ok' | 'refused' | 'transient']>([
    [200, 'ok'],
    [201, 'ok'],
    [204, 'ok'],
    [307, 'transient'],
    [400, 'refused'],
    [401, 'transient'],
    [402, 'refused'],
    [403, 'transient'],
    [404, 'transient'],
    [405, 'refused'],
    [408, 'transient'],
    [409, 'transient'],
    [410, 'transient'],
    [411, 'refused'],
    [412, 'refused'],
    [413, 'refused'],
    [429, 'transient'],
    [500, 'transient'],
    [501, 'transient'],
    [503, 'transient'],
  ])('answered by %d is %s, and never a matter of credentials', async (status, kind) => {
    const { emulator } = await start();
    const client = connectTo(emulator);
    const said = status === 204 ? { body: '' } : { type: 'SomeCode', message: 'words' };
    emulator.faults.add({ operation: 'upload', kind: 'status', status, ...said });
    const outcome = await store(client, 'a', whole('abc'));
    expect(outcome.kind === 'ok' ? 'ok' : outcome.failure.kind).toBe(kind);
    if (outcome.kind === 'failed' && status !== 307)
      expect(outcome.failure.message).toBe(`the upload address answered ${status} SomeCode`);
  });

  test('asked to wait says so; nobody else has to', async () => {
    const clock = new SimulatedClock();
    const { emulator } = await start();
    const client = connectTo(emulator, { clock });
    emulator.faults.add({
      operation: 'upload',
      kind: 'status',
      status: 500,
      headers: { 'Retry-After': '7' },
    });
    expect(failureIn(await store(client, 'a', whole('abc')))).toMatchObject({ retryAfterMs: 7000 });
    await client.pacer.turn('store', NEVER);
    expect(clock.slept).toEqual([]);
  });

  test.each([429, 503])('asked to slow down by %d makes everybody wait', async (status) => {
    const clock = new SimulatedClock();
    const { emulator } = await start();
    const client = connectTo(emulator, { clock });
    emulator.faults.add({ operation: 'upload', kind: 'status', status, headers: { 'Retry-After': '7' } });
    expect(failureIn(await store(client, 'a', whole('abc')))).toMatchObject({ retryAfterMs: 7000 });
    await client.pacer.turn('store', NEVER);
    expect(clock.monotonic()).toBe(7000);
  });

  test('that is answered before the store has read it does not count', async () => {
    const { emulator } = await start();
    emulator.faults.add({ operation: 'upload', kind: 'answer-then-drop' });
    const failure = failureIn(await store(connectTo(emulator), 'a', stream(Buffer.alloc(32_000_000))));
    expect(failure.kind).toBe('transient');
    expect(emulator.readContent(BOT, 'a')).toBeNull();
  });

  test.each([
    ['in pieces', 256 * 1024],
    ['in one piece', 32_000_000],
  ])('that a server of bad manners accepts at once does not count, sent %s', async (_, pieceBytes) => {
    const server = await serve((request, response) => {
      request.pause();
      response.writeHead(200, { 'content-length': '0' }).end();
    });
    const file = { uploadUrl: new URL(server.url), contentType: 'a/b' };
    const { platform } = connect('http://unused.test');
    const chunks = inChunks(Buffer.alloc(32_000_000), pieceBytes);
    const content: OutgoingContent = { kind: 'stream', sizeBytes: 32_000_000, chunks };
    expect(failureIn(await platform.upload(file, content, false, NEVER))).toEqual({
      kind: 'transient',
      message: 'the store answered before it had every byte',
    });
  });

  test.each([
    ['whole', whole('abc')],
    ['streamed', stream(Buffer.alloc(32_000_000))],
  ])('%s is broken off by an abort', async (_, content) => {
    let isUnderWay = false;
    const server = await serve((request) => {
      request.pause();
      isUnderWay = true;
    });
    const file = { uploadUrl: new URL(server.url), contentType: 'a/b' };
    const abort = new AbortController();
    const uploading = connect(server.url).platform.upload(file, content, false, abort.signal);
    await expect.poll(() => isUnderWay).toBe(true);
    abort.abort();
    expect(failureIn(await uploading)).toEqual({ kind: 'transient', message: 'interrupted' });
  });

  test('whose content cannot be read to its end is no upload', async () => {
    const { emulator } = await start();
    const content = Buffer.alloc(1_000_000);
    const chunks = (async function* () {
      yield* inChunks(content.subarray(0, 600_000));
      throw new Error('torn');
    })();
    const outcome = await store(connectTo(emulator), 'a', {
      kind: 'stream',
      sizeBytes: content.length,
      chunks,
    });
    expect(failureIn(outcome)).toEqual({ kind: 'transient', message: 'torn' });
    expect(emulator.readContent(BOT, 'a')).toBeNull();
  });

  test('repeats no byte and leaves none out', async () => {
    const { emulator } = await start();
    const content = randomBytes(3_000_001);
    await store(connectTo(emulator, { limits: { maxBytesPerSecond: 1_000_000 } }), 'a', stream(content));
    const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
    expect(digest(emulator.readContent(BOT, 'a') ?? Buffer.alloc(0))).toBe(digest(content));
  });
});
