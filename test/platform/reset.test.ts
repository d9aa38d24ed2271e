import { connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { readSendQueues } from '../../src/platform/tcp-socket.ts';
import { systemClock } from '../../src/service/system-clock.ts';
import { TEST_ONLY_IDENTITY } from '../tls/identity.ts';
import { connect, failureIn, listenOnFreePort, NEVER } from './fixture.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** More than the buffers of both sides take. */
const CONTENT = { kind: 'whole', bytes: Buffer.alloc(16_000_000) } as const;

/** The kernel of the sender holds more than this when it is full; that of a receiver that has read little never has as much. */
const HELD_BYTES = 2_000_000;

/** The line passes this, which is more than the greeting of TLS and the head of the request, before it goes dark. */
const PASSED_BYTES = 16_384;

/** A line to a store that takes nothing, until it is back: then it counts what still comes. */
interface DarkLine {
  readonly url: URL;
  /** Resolves when the kernel of the sender is full. */
  readonly isFull: () => Promise<void>;
  /** The line is back. Resolves, once it ended, to the bytes that came then. */
  readonly bytesAfter: () => Promise<number>;
}

async function darkLine(isEncrypted: boolean): Promise<DarkLine> {
  const store = isEncrypted ? createTlsServer(TEST_ONLY_IDENTITY) : createServer();
  const storePort = await listenOnFreePort(store);
  const lines: { near: Socket; far: Socket }[] = [];
  const relay = createTcpServer((near) => {
    const far = connectTcp(storePort, '127.0.0.1');
    far.on('error', () => undefined);
    near.on('error', () => undefined);
    lines.push({ near, far });
    far.pipe(near);
    let passedBytes = 0;
    near.on('data', function pass(chunk: Buffer) {
      far.write(chunk);
      passedBytes += chunk.length;
      if (passedBytes >= PASSED_BYTES) near.off('data', pass).pause();
    });
  });
  const port = await listenOnFreePort(relay);
  onTestFinished(() => {
    for (const { near, far } of lines) {
      near.destroy();
      far.destroy();
    }
    relay.close();
    store.close();
    store.closeAllConnections();
  });
  if (isEncrypted) vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const heldBytes = async (): Promise<number> =>
    (await readSendQueues()).get(`${lines[0]?.near.remotePort ?? 0}>${port}`)?.unacknowledgedBytes ?? 0;
  return {
    url: new URL(`${isEncrypted ? 'https' : 'http'}://localhost:${port}/a`),
    isFull: async () => {
      while ((await heldBytes()) < HELD_BYTES) await setImmediate();
    },
    bytesAfter: () =>
      new Promise((resolve) => {
        let bytes = 0;
        for (const { near } of lines) {
          near.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume();
          near.on('close', () => {
            resolve(bytes);
          });
        }
      }),
  };
}

describe.runIf(process.platform === 'linux').each([
  ['http', false],
  ['https', true],
])('over %s nothing of a request that was given up arrives when the line is back:', (_, isEncrypted) => {
  test('broken off', async () => {
    const line = await darkLine(isEncrypted);
    const { platform } = connect('http://127.0.0.1:1');
    const abort = new AbortController();
    const file = { uploadUrl: line.url, contentType: 'a/b' };
    const upload = platform.upload(file, CONTENT, false, abort.signal);
    await line.isFull();
    abort.abort();
    expect(failureIn(await upload).message).toBe('interrupted');
    expect(await line.bytesAfter()).toBeLessThan(HELD_BYTES);
  });

  test('for want of progress', async () => {
    const line = await darkLine(isEncrypted);
    const { platform } = connect('http://127.0.0.1:1', { stallTimeoutMs: 500, clock: systemClock });
    const file = { uploadUrl: line.url, contentType: 'a/b' };
    const upload = platform.upload(file, CONTENT, false, NEVER);
    expect(failureIn(await upload).message).toBe('no progress within upload.stallTimeout');
    expect(await line.bytesAfter()).toBeLessThan(HELD_BYTES);
  });
});
