import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../src/domain/failure.ts';
import type { OutgoingContent } from '../../src/domain/file-platform.ts';
import type { Emulator } from '../../src/emulator/emulator.ts';
import { identityHeaders } from '../../src/platform/identity-headers.ts';
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
  sleepless,
  START,
  upsertBody,
  valueOf,
  type ClientOptions,
  type TestClient,
} from './fixture.ts';

const BOT = 'demo-bot';

const IDENTITY = {
  'x-integration-id': 'int-1',
  'x-integration-alias': 'alias',
  'x-integration-name': 'name',
  'x-user-id': 'user-1',
  'x-user-role': 'owner',
};

function connectTo(emulator: Emulator, options: ClientOptions = {}): TestClient {
  return connect(emulator.baseUrl, { token: emulator.token, ...options });
}

function whole(content: Buffer | string): OutgoingContent {
  return { kind: 'whole', bytes: Buffer.from(content) };
}

function stream(content: Buffer): OutgoingContent {
  return { kind: 'stream', sizeBytes: content.length, chunks: inChunks(content) };
}

/** Upsert and upload of one file. */
async function store(
  { platform }: TestClient,
  key: string,
  content: OutgoingContent,
  more: Parameters<typeof upsertBody>[2] = {},
): Promise<Outcome<null>> {
  const sizeBytes = content.kind === 'whole' ? content.bytes.length : content.sizeBytes;
  const file = valueOf(await platform.upsert(BOT, upsertBody(key, sizeBytes, more), NEVER));
  return platform.upload(file, content, more.publicContentImmediatelyAccessible === true, NEVER);
}

describe('an upsert', () => {
  test('is one PUT with the token, the bot, the identity and the body', async () => {
    const seen: unknown[] = [];
    const server = await serve((request, response) => {
      void readBody(request).then((bytes) => {
        seen.push([request.method, request.url, request.headers, JSON.parse(bytes.toString())]);
        answerJson(response, 200, {
          file: { uploadUrl: 'https://store.test/a?sig=1', contentType: 'a/b', url: 'https://store.test/a' },
        });
      });
    });
    const { platform } = connect(server.url, { token: 'T', identityHeaders: IDENTITY });
    const body = upsertBody('ä/b.txt', 3, { tags: { a: 'ü' }, expiresAt: '2026-03-02T00:00:00.000Z' });
    const file = valueOf(await platform.upsert('bot-7', body, NEVER));
    expect(file).toEqual({
      uploadUrl: new URL('https://store.test/a?sig=1'),
      contentType: 'a/b',
      url: 'https://store.test/a',
    });
    expect(seen).toEqual([
      [
        'PUT',
        '/v1/files',
        {
          host: new URL(server.url).host,
          connection: 'keep-alive',
          authorization: 'Bearer T',
          'x-bot-id': 'bot-7',
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(JSON.stringify(body))),
          ...IDENTITY,
        },
        body,
      ],
    ]);
  });

  test('says nothing of an identity that is not set', async () => {
    const { emulator } = await start({ recordRequests: true });
    await store(connectTo(emulator), 'a.txt', whole('abc'));
    expect(Object.keys(emulator.requests[0]?.headers ?? {}).filter((name) => name in IDENTITY)).toEqual([]);
    expect(emulator.requests[0]?.botId).toBe(BOT);
  });

  test.each([200, 201, 202])('is done with %d', async (status) => {
    const server = await serve((_, response) => {
      answerJson(response, status, { file: { uploadUrl: 'http://store.test/', contentType: 'a/b' } });
    });
    expect((await connect(server.url).platform.upsert(BOT, upsertBody('a', 1), NEVER)).kind).toBe('ok');
  });

  test('is not done with an error, whatever else it says', async () => {
    const server = await serve((_, response) => {
      answerJson(response, 500, { file: { uploadUrl: 'http://store.test/', contentType: 'a/b' } });
    });
    const outcome = await connect(server.url).platform.upsert(BOT, upsertBody('a', 1), NEVER);
    expect(failureIn(outcome)).toEqual({ kind: 'transient', message: '500' });
  });

  test('takes the content type that was sent when none comes back', async () => {
    const server = await serve((_, response) => {
      answerJson(response, 200, { file: { uploadUrl: 'http://store.test/' } });
    });
    const body = upsertBody('a', 1, { contentType: 'text/x-ours' });
    expect(valueOf(await connect(server.url).platform.upsert(BOT, body, NEVER)).contentType).toBe(
      'text/x-ours',
    );
  });

  test.each<[string, unknown]>([
    ['no JSON', '<html>Welcome to the hotel network</html>'],
    ['an empty body', ''],
    ['null', null],
    ['no file', {}],
    ['a file that is null', { file: null }],
    ['no uploadUrl', { file: { contentType: 'a/b' } }],
    ['an uploadUrl that is no text', { file: { uploadUrl: 7 } }],
    ['several uploadUrls', { file: { uploadUrl: ['http://store.test/'] } }],
    ['an empty uploadUrl', { file: { uploadUrl: '' } }],
    ['a relative uploadUrl', { file: { uploadUrl: '/upload/1' } }],
    ['an uploadUrl of ftp', { file: { uploadUrl: 'ftp://store.test/1' } }],
    ['an uploadUrl of a local file', { file: { uploadUrl: 'file:///etc/passwd' } }],
    ['an uploadUrl of a script', { file: { uploadUrl: 'javascript:alert(1)' } }],
  ])('answered by a success with %s is a transient failure', async (_, body) => {
    const { emulator } = await start();
    emulator.faults.add({
      operation: 'upsert',
      kind: 'status',
      status: 200,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const failure = failureIn(await connectTo(emulator).platform.upsert(BOT, upsertBody('a', 1), NEVER));
    expect(failure).toEqual({ kind: 'transient', message: '200 with an answer that makes no sense' });
  });

  test.each([
    ['garbage', { kind: 'garbage' } as const],
    ['missing-upload-url', { kind: 'missing-upload-url' } as const],
  ])('meets the emulator with %s and fails for the time being', async (_, fault) => {
    const { emulator } = await start();
    emulator.faults.add({ operation: 'upsert', ...fault });
    const failure = failureIn(await connectTo(emulator).platform.upsert(BOT, upsertBody('a', 1), NEVER));
    expect(failure.kind).toBe('transient');
  });

  test.each([
    ['a wrong token', { token: 'wrong' }, BOT, { kind: 'credentials', scope: 'all' }],
    ['an unknown bot', {}, 'nobody', { kind: 'credentials', scope: 'bot' }],
  ])('with %s is a failure of credentials', async (_, options, botId, failure) => {
    const { emulator } = await start();
    const { platform } = connectTo(emulator, options);
    expect(failureIn(await platform.upsert(botId, upsertBody('a', 1), NEVER))).toMatchObject(failure);
  });

  test('of the largest body is answered by more than a megabyte', async () => {
    const { emulator } = await start();
    // Within the platform's 1 MB; the answer repeats it and adds fields of its own.
    const metadata = { text: 'x'.repeat(999_700) };
    expect((await store(connectTo(emulator), 'a.txt', whole('abc'), { metadata })).kind).toBe('ok');
    expect(emulator.listFiles(BOT)[0]?.content?.size).toBe(3);
  });
});

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
    await client.pacer.turn(NEVER);
    expect(clock.slept).toEqual([]);
  });

  test.each([429, 503])('asked to slow down by %d makes everybody wait', async (status) => {
    const clock = new SimulatedClock();
    const { emulator } = await start();
    const client = connectTo(emulator, { clock });
    emulator.faults.add({ operation: 'upload', kind: 'status', status, headers: { 'Retry-After': '7' } });
    expect(failureIn(await store(client, 'a', whole('abc')))).toMatchObject({ retryAfterMs: 7000 });
    await client.pacer.turn(NEVER);
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
    ['cut midway', { kind: 'cut', afterBytes: 500_000 } as const],
    ['dropped', { kind: 'drop' } as const],
    ['answered by nobody', { kind: 'apply-then-drop' } as const],
  ])('%s is transient', async (_, fault) => {
    const { emulator } = await start();
    emulator.faults.add({ operation: 'upload', ...fault });
    expect(failureIn(await store(connectTo(emulator), 'a', stream(Buffer.alloc(1_000_000)))).kind).toBe(
      'transient',
    );
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

describe('the identity', () => {
  test('names what is set', () => {
    expect(identityHeaders({})).toEqual({});
    expect(
      identityHeaders({
        integrationId: 'int-1',
        integrationAlias: 'alias',
        integrationName: 'name',
        userId: 'user-1',
        userRole: 'owner',
      }),
    ).toEqual(IDENTITY);
    expect(identityHeaders({ userId: '' })).toEqual({ 'x-user-id': '' });
  });
});

describe("what answers say of the platform's pace and time", () => {
  test.each([
    [429, 7000],
    [503, 7000],
    [500, 0],
    [409, 0],
  ])('%d with Retry-After holds everybody back for %d ms', async (status, waitMs) => {
    const clock = new SimulatedClock();
    const { emulator } = await start();
    const { platform, pacer } = connectTo(emulator, { clock });
    emulator.faults.add({ operation: 'upsert', kind: 'status', status, headers: { 'Retry-After': '7' } });
    const failure = failureIn(await platform.upsert(BOT, upsertBody('a', 1), NEVER));
    expect(failure).toMatchObject({ kind: 'transient', retryAfterMs: 7000 });
    await pacer.turn(NEVER);
    expect(clock.monotonic()).toBe(waitMs);
  });

  test('a window that is used up is waited for: the limit is never hit', async () => {
    const clock = new SimulatedClock();
    const { emulator } = await start({ rateLimit: { requests: 40, windowMs: 10_000 }, now: clock.now });
    const { platform } = connectTo(emulator, { clock });
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, async (_, worker) => {
        const kinds: string[] = [];
        for (let i = 0; i < 20; i += 1)
          kinds.push((await platform.upsert(BOT, upsertBody(`${worker}/${i}`, 1), NEVER)).kind);
        return kinds;
      }),
    );
    expect(new Set(outcomes.flat())).toEqual(new Set(['ok']));
    // Four windows, of which the last is not waited for.
    expect(clock.monotonic()).toBeGreaterThanOrEqual(30_000);
    expect(clock.monotonic()).toBeLessThan(80_000);
  });

  test('during a pause nothing is sent, be it an upsert or an upload', async () => {
    const paths: unknown[] = [];
    const server = await serve((request, response) => {
      paths.push(request.url);
      answerJson(response, 200, { file: { uploadUrl: `${server.url}/up`, contentType: 'a/b' } });
    });
    const file = { uploadUrl: new URL(`${server.url}/up`), contentType: 'a/b' };
    const paused = connect(server.url, { clock: sleepless(new SimulatedClock()) });
    const other = connect(server.url);
    // Both have a connection by now.
    for (const { platform } of [paused, other])
      valueOf(await platform.upload(file, whole('abc'), false, NEVER));
    paused.pacer.pause(7000);
    const abort = new AbortController();
    const waiting = [
      paused.platform.upsert(BOT, upsertBody('a', 3), abort.signal),
      paused.platform.upload(file, whole('abc'), false, abort.signal),
    ];
    // Ten requests one after the other are slower than one that does not wait.
    for (let i = 0; i < 10; i += 1) valueOf(await other.platform.upload(file, whole('abc'), false, NEVER));
    expect(paths).toHaveLength(12);
    abort.abort();
    for (const outcome of await Promise.all(waiting)) expect(failureIn(outcome).message).toBe('interrupted');
    expect(paths).toHaveLength(12);
  });

  test('a date in Retry-After is counted by the clock that wrote it', async () => {
    const clock = new SimulatedClock();
    clock.wallOffsetMs = -86_400_000;
    const { emulator } = await start({ now: () => START });
    const { platform, pacer } = connectTo(emulator, { clock });
    const headers = { 'Retry-After': new Date(START + 30_000).toUTCString() };
    emulator.faults.add({ operation: 'upsert', kind: 'status', status: 503, headers });
    emulator.faults.add({ operation: 'upload', kind: 'status', status: 500, headers });
    const failure = failureIn(await platform.upsert(BOT, upsertBody('a', 1), NEVER));
    expect(failure).toMatchObject({ retryAfterMs: 29_500 });
    await pacer.turn(NEVER);
    expect(clock.monotonic()).toBe(29_500);
  });

  test('the time is that of the platform as soon as it answered, also with a refusal', async () => {
    const clock = new SimulatedClock();
    clock.wallOffsetMs = -86_400_000;
    const { emulator } = await start({ now: () => START });
    const { platform } = connectTo(emulator, { clock, token: 'wrong' });
    expect(platform.now()).toBe(START - 86_400_000);
    await platform.upsert(BOT, upsertBody('a', 1), NEVER);
    expect(platform.now()).toBe(START);
  });
});
