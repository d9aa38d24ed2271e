import { getEventListeners } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { start } from '../emulator/fixture.ts';
import {
  answerJson,
  closedAddress,
  connect,
  failureIn,
  inChunks,
  listenOnFreePort,
  NEVER,
  readBody,
  serve,
  upsertBody,
  valueOf,
  type TestClient,
} from './fixture.ts';

const BODY = upsertBody('a.txt', 3);

describe('a connection', () => {
  test('that is refused is a transient failure', async () => {
    const address = await closedAddress();
    const { platform } = connect(address);
    expect(failureIn(await platform.upsert('b', BODY, NEVER))).toEqual({
      kind: 'transient',
      message: `cannot reach ${address} (platform.baseUrl): connection refused (ECONNREFUSED)`,
      notCarriedOut: true,
      noConnection: 'local',
    });
  });

  test('that is reset is a transient failure', async () => {
    const server = await serve((request) => {
      request.socket.resetAndDestroy();
    });
    expect(failureIn(await connect(server.url).platform.upsert('b', BODY, NEVER))).toEqual({
      kind: 'transient',
      message: 'connection lost (ECONNRESET)',
    });
  });

  test('that ends before an answer, or within one, is a transient failure', async () => {
    let requests = 0;
    const server = await serve((request, response) => {
      requests += 1;
      if (requests === 1) request.socket.destroy();
      else {
        response.writeHead(200, { 'content-length': '100' }).write('{"file":');
        setImmediate(() => request.socket.destroy());
      }
    });
    const { platform } = connect(server.url);
    expect(failureIn(await platform.upsert('b', BODY, NEVER))).toEqual({
      kind: 'transient',
      message: 'connection lost',
    });
    expect(failureIn(await platform.upsert('b', BODY, NEVER)).kind).toBe('transient');
    expect(requests).toBe(2);
  });

  test('to a name that does not exist is a transient failure', async () => {
    const { platform } = connect('http://no-such-host.invalid');
    const failure = failureIn(await platform.upsert('b', BODY, NEVER));
    expect(failure.kind).toBe('transient');
    expect(failure.message).toMatch(
      /^cannot reach http:\/\/no-such-host\.invalid \(platform\.baseUrl\): host name (not found|could not be looked up) \((ENOTFOUND|EAI_AGAIN)\)$/u,
    );
  });

  test('to something that does not speak HTTP is a transient failure', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined).end('SSH-2.0-OpenSSH_9.9\r\n');
    });
    const port = await listenOnFreePort(server);
    const outcome = await connect(`http://127.0.0.1:${port}`).platform.upsert('b', BODY, NEVER);
    server.close();
    expect(failureIn(outcome).kind).toBe('transient');
  });

  test('that does not come about in time is given up', async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
    const port = await listenOnFreePort(server);
    // It accepts, and never answers the greeting of TLS.
    const { platform } = connect(`https://127.0.0.1:${port}`, { stallTimeoutMs: 300 });
    const begunMs = performance.now();
    const outcome = await platform.upsert('b', BODY, NEVER);
    for (const socket of sockets) socket.destroy();
    server.close();
    expect(failureIn(outcome)).toEqual({
      kind: 'transient',
      message: `cannot reach https://127.0.0.1:${port} (platform.baseUrl): connection timed out`,
      notCarriedOut: true,
      noConnection: 'local',
    });
    // undici's own limit is ten seconds.
    expect(performance.now() - begunMs).toBeLessThan(9000);
  });

  test('is used again', async () => {
    const server = await serve((request, response) => {
      void readBody(request).then(() => {
        answerJson(response, 200, { file: { uploadUrl: `${server.url}/up`, contentType: 'a/b' } });
      });
    });
    const client = connect(server.url, { concurrency: 1 });
    for (let i = 0; i < 10; i += 1) await store(client, i % 2 === 0 ? 3 : 300_000);
    expect(server.connections()).toBe(1);
  });

  test('is one of at most so many as files are sent at a time', async () => {
    const server = await serve((request, response) => {
      void readBody(request).then(() => {
        setTimeout(() => {
          answerJson(response, 200, { file: { uploadUrl: `${server.url}/up`, contentType: 'a/b' } });
        }, 5);
      });
    });
    const client = connect(server.url, { concurrency: 3 });
    await Promise.all(Array.from({ length: 12 }, () => store(client, 3)));
    expect(server.connections()).toBe(3);
  });

  test('is broken off by an abort, before and within the answer', async () => {
    const { emulator } = await start();
    const { platform } = connect(emulator.baseUrl, { token: emulator.token });
    for (const kind of ['hang', 'hang-mid-body'] as const) {
      emulator.faults.add({ operation: 'upsert', kind });
      const abort = new AbortController();
      const upserting = platform.upsert('demo-bot', BODY, abort.signal);
      await expect.poll(() => emulator.faults.pending()).toEqual([]);
      abort.abort();
      expect(failureIn(await upserting)).toEqual({ kind: 'transient', message: 'interrupted' });
    }
  });

  test('that is waited for is not waited for any longer after an abort', async () => {
    const { emulator } = await start();
    const { platform } = connect(emulator.baseUrl, { token: emulator.token, concurrency: 1 });
    emulator.faults.add({ operation: 'upsert', kind: 'hang' });
    const first = platform.upsert('demo-bot', BODY, NEVER);
    await expect.poll(() => emulator.faults.pending()).toEqual([]);
    const abort = new AbortController();
    const second = platform.upsert('demo-bot', BODY, abort.signal);
    for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
    abort.abort();
    expect(failureIn(await second)).toEqual({ kind: 'transient', message: 'interrupted' });
    emulator.faults.clear();
    expect((await first).kind).toBe('ok');
    // Nor is it made later on, when its turn would have come.
    expect((await platform.upsert('demo-bot', BODY, NEVER)).kind).toBe('ok');
    expect(emulator.counts.get('upsert')).toBe(2);
  });

  test('leaves nothing behind at the signal', async () => {
    const { emulator } = await start();
    const { platform } = connect(emulator.baseUrl, { token: emulator.token });
    const { signal } = new AbortController();
    emulator.faults.add({ operation: 'upsert', kind: 'drop' });
    for (let i = 0; i < 3; i += 1) await platform.upsert('demo-bot', BODY, signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('is not even made after an abort', async () => {
    const server = await serve((_, response) => response.end());
    const { platform } = connect(server.url);
    const failure = failureIn(await platform.upsert('demo-bot', BODY, AbortSignal.abort()));
    expect(failure).toEqual({ kind: 'transient', message: 'interrupted', notCarriedOut: true });
    expect(server.connections()).toBe(0);
  });

  test('ends when everything is closed, also while something is under way', async () => {
    const { emulator } = await start();
    const { platform, http } = connect(emulator.baseUrl, { token: emulator.token });
    emulator.faults.add({ operation: 'upsert', kind: 'hang' });
    const upserting = platform.upsert('demo-bot', BODY, NEVER);
    await expect.poll(() => emulator.faults.pending()).toEqual([]);
    await http.close();
    expect(failureIn(await upserting).kind).toBe('transient');
  });
});

describe('a redirect', () => {
  test.each([301, 302, 303, 307, 308] as const)('%d is not followed', async (status) => {
    const followed: unknown[] = [];
    const elsewhere = await serve((request, response) => {
      followed.push(request.headers);
      response.end();
    });
    const { emulator } = await start();
    const location = `${elsewhere.url}/p?X-Amz-Signature=SECRET`;
    emulator.faults.add({ operation: 'upsert', kind: 'redirect', location, status });
    emulator.faults.add({ operation: 'upload', kind: 'redirect', location, status });
    const { platform } = connect(emulator.baseUrl, { token: emulator.token });
    const expected = {
      kind: 'transient',
      message: `${status}: redirected to ${elsewhere.url}, which is not followed; check the address in the config`,
      unusable: true,
    };
    expect(failureIn(await platform.upsert('demo-bot', BODY, NEVER))).toEqual(expected);
    const file = valueOf(await platform.upsert('demo-bot', BODY, NEVER));
    const uploading = platform.upload(file, { kind: 'whole', bytes: Buffer.from('abc') }, false, NEVER);
    expect(failureIn(await uploading)).toEqual(expected);
    expect(followed).toEqual([]);
    expect(elsewhere.connections()).toBe(0);
  });
});

describe('an answer', () => {
  test('of several megabytes is read, one without end is given up', async () => {
    let endless = false;
    const server = await serve((_, response) => {
      if (endless) {
        const more = (): void => {
          while (!response.destroyed && response.write(' '.repeat(1_000_000)));
        };
        response.on('drain', more);
        more();
      } else {
        answerJson(response, 200, {
          file: { metadata: 'x'.repeat(3_000_000), uploadUrl: 'http://store.test/', contentType: 'a/b' },
        });
      }
    });
    const { platform } = connect(server.url);
    expect((await platform.upsert('b', BODY, NEVER)).kind).toBe('ok');
    endless = true;
    expect(failureIn(await platform.upsert('b', BODY, NEVER)).kind).toBe('transient');
  });
});

async function store({ platform }: TestClient, sizeBytes: number): Promise<void> {
  const file = valueOf(await platform.upsert('b', BODY, NEVER));
  const bytes = Buffer.alloc(sizeBytes);
  const content =
    sizeBytes > 262_144
      ? ({ kind: 'stream', sizeBytes, chunks: inChunks(bytes) } as const)
      : ({ kind: 'whole', bytes } as const);
  valueOf(await platform.upload(file, content, false, NEVER));
}

test('content that the store refuses before it has read it says nothing of how fast the store is', async () => {
  const server = await serve((_request, response) => {
    response.writeHead(403, { connection: 'close' }).end();
  });
  const { platform } = connect(server.url);
  const address = { uploadUrl: new URL(`${server.url}/upload`), contentType: 'text/plain' };
  const content = { kind: 'whole', bytes: Buffer.alloc(200_000) } as const;
  failureIn(await platform.upload(address, content, false, NEVER));
  expect(platform.storeBytesPerSecond()).toBeNull();
});
