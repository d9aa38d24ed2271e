import { describe, expect, test } from 'vitest';
import { start } from '../emulator/fixture.ts';
import { answerJson, connect, failureIn, NEVER, readBody, serve, upsertBody, valueOf } from './fixture.ts';
import { BOT, connectTo, IDENTITY, store, whole } from './files-fixture.ts';

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
      id: null,
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
    const page = `, a page of HTML from ${emulator.baseUrl}; check platform.baseUrl and the network`;
    expect(failure).toEqual({
      kind: 'transient',
      message: `200 with an unexpected answer${String(body).startsWith('<') ? page : ''}`,
      unusable: true,
    });
  });
});
