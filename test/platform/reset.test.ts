import { readFile } from 'node:fs/promises';
import { connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../src/service/system-clock.ts';
import { TEST_ONLY_IDENTITY } from '../tls/identity.ts';
import { connect, failureIn, listenOnFreePort, NEVER } from './fixture.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** More than the buffers of both sides take. */
const CONTENT = { kind: 'whole', bytes: Buffer.alloc(16_000_000) } as const;

/** So often in a row the kernel must show the same before nothing is on its way any more. */
const STILL_LOOKS = 200;

/** So much the relay had read, and not passed on. */
const READ_BYTES = 128 * 1024;

/** A line to a store that takes nothing, until it is back: then it counts what still comes. */
interface DarkLine {
  readonly url: URL;
  /** Resolves when the kernels of both sides are full, to what that of the receiver holds. */
  readonly isFull: () => Promise<number>;
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
    near.pipe(far).pipe(near);
  });
  // The greeting of TLS passes; the request is where it goes dark.
  store.on('request', () => {
    for (const { near } of lines) near.unpipe().pause();
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
  const heldBytes = async (): Promise<{ sender: number; receiver: number }> => {
    const client = lines[0]?.near.remotePort ?? 0;
    const table = await readFile('/proc/self/net/tcp', 'latin1');
    const rows = table.split('\n').map((line) =>
      line
        .trim()
        .split(/[\s:]+/u)
        .map((field) => Number.parseInt(field, 16)),
    );
    const queuesFrom = (local: number, remote: number): readonly number[] =>
      rows.find((fields) => fields[2] === local && fields[4] === remote)?.slice(6, 8) ?? [];
    return { sender: queuesFrom(client, port)[0] ?? 0, receiver: queuesFrom(port, client)[1] ?? 0 };
  };
  return {
    url: new URL(`${isEncrypted ? 'https' : 'http'}://localhost:${port}/a`),
    isFull: async () => {
      let before = '';
      for (let still = 0; ;) {
        const held = await heldBytes();
        still = held.sender > 0 && JSON.stringify(held) === before ? still + 1 : 0;
        before = JSON.stringify(held);
        if (still === STILL_LOOKS) return held.receiver;
        await setImmediate();
      }
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
    const arrivedBytes = await line.isFull();
    abort.abort();
    expect(failureIn(await upload).message).toBe('interrupted');
    expect(await line.bytesAfter()).toBeLessThanOrEqual(arrivedBytes + READ_BYTES);
  });

  test('for want of progress', async () => {
    const line = await darkLine(isEncrypted);
    const { platform } = connect('http://127.0.0.1:1', { stallTimeoutMs: 500, clock: systemClock });
    const file = { uploadUrl: line.url, contentType: 'a/b' };
    const upload = platform.upload(file, CONTENT, false, NEVER);
    const arrivedBytes = await line.isFull();
    expect(failureIn(await upload).message).toBe('no progress within upload.stallTimeout');
    expect(await line.bytesAfter()).toBeLessThanOrEqual(arrivedBytes + READ_BYTES);
  });
});
