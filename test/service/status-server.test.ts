import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { askDaemon } from '../../src/service/daemon-socket.ts';
import type { ControlPorts } from '../../src/service/status-routes.ts';
import {
  serveOnAddress,
  serveOnSocket,
  type ClientLimits,
  type ServeAttempt,
  type StatusServer,
} from '../../src/service/status-server.ts';
import { run, temporaryDirectory } from './fixture.ts';

const LOCAL = { host: '127.0.0.1', port: 0 };
const HASTY: ClientLimits = { connections: 2, patienceMs: 100 };

const PORTS: ControlPorts = {
  readiness: () => ({ ready: true, reasons: [] }),
  metrics: () => Promise.resolve({ contentType: 'text/plain', body: 'up 1\n' }),
  status: () => ({ pid: process.pid }),
  approve: (source) => ({ approved: source }),
  rescan: () => ({}),
  prune: () => ({}),
  pause: () => ({}),
  resume: () => ({}),
  reload: () => ({ problem: null }),
  failed: (error) => {
    throw error;
  },
};
const HANGING: ControlPorts = { ...PORTS, metrics: () => new Promise(() => undefined) };

function serving(attempt: ServeAttempt): StatusServer {
  if (attempt.kind === 'failed') throw new Error(attempt.reason);
  onTestFinished(attempt.server.close);
  return attempt.server;
}

function stateFileIn(...parts: string[]): string {
  const directory = join(temporaryDirectory(), ...parts);
  mkdirSync(directory, { recursive: true });
  return join(directory, 'state.db');
}

async function ask(stateFile: string, target = '/status') {
  return await askDaemon(stateFile, 'GET', target, AbortSignal.timeout(20_000));
}

/** A status and a body, asked for by any name. */
async function get(address: string, headers: Record<string, string>, method = 'GET') {
  const call = request(`http://${address}/status`, { headers, method, agent: false });
  call.end();
  const [response] = (await once(call, 'response')) as [import('node:http').IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

/** A bare connection to a server. */
async function connected(server: StatusServer): Promise<Socket> {
  const socket = connect(Number(server.address.split(':').at(-1)), '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, 'connect');
  return socket;
}

/** What an entry of /proc leads to; `null` when it is gone already. */
function targetOf(link: string): string | null {
  try {
    return readlinkSync(link);
  } catch {
    return null;
  }
}

async function ended(socket: Socket): Promise<string> {
  socket.on('error', () => undefined);
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
  await new Promise((closed) => socket.once('close', closed));
  return received;
}

describe('over TCP', () => {
  test('answers at a port that the system chose, without a body for HEAD', async () => {
    const { address } = serving(await serveOnAddress(LOCAL, PORTS, null));
    expect(address).toMatch(/^127\.0\.0\.1:[1-9]\d+$/u);
    const answer = await get(address, {});
    expect(answer).toMatchObject({ status: 200, body: `{"pid":${process.pid}}\n` });
    const head = await get(address, {}, 'HEAD');
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(head.headers['content-length']).toBe(answer.headers['content-length']);
  });

  test('takes no approval', async () => {
    const { address } = serving(await serveOnAddress(LOCAL, PORTS, null));
    const response = await fetch(`http://${address}/approve`, { method: 'POST', body: 'x'.repeat(1e6) });
    expect(response.status).toBe(404);
  });

  test.each([
    ['localhost', 200],
    ['LOCALHOST:9464', 200],
    ['127.0.0.1:1', 200],
    ['[::1]:9464', 200],
    ['evil.example', 421],
    ['evil.example:9464', 421],
    ['localhost.evil.example', 421],
    ['127.0.0.1.evil.example', 421],
    ['[localhost]', 421],
    ['a:b:c', 421],
  ])('on loopback the name %j gives %i', async (host, status) => {
    const { address } = serving(await serveOnAddress(LOCAL, PORTS, null));
    expect(await get(address, { host })).toMatchObject({ status });
  });

  test('at an address that others reach too, any name will do', async () => {
    const { address } = serving(await serveOnAddress({ host: '0.0.0.0', port: 0 }, PORTS, null));
    const host = 'monitor.example';
    expect(await get(address.replace('0.0.0.0', '127.0.0.1'), { host })).toMatchObject({ status: 200 });
  });

  test('says why it cannot listen', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => {
      taken.close();
    });
    await once(taken, 'listening');
    const { port } = taken.address() as import('node:net').AddressInfo;
    expect(await serveOnAddress({ ...LOCAL, port }, PORTS, null)).toEqual({
      kind: 'failed',
      reason: `cannot listen at 127.0.0.1:${port}: address in use`,
    });
    expect(await serveOnAddress({ host: '192.0.2.1', port: 0 }, PORTS, null)).toEqual({
      kind: 'failed',
      reason: 'cannot listen at 192.0.2.1:0: this machine does not have this address',
    });
  });
});

describe('clients that hang', () => {
  test.each([
    ['say nothing', ''],
    ['stop in the midst of a request', 'GET /status HTTP/1.1\r\nHost: x'],
    ['stop in the midst of a body', 'POST /status HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx'],
    ['wait for what does not come', 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['keep a connection', 'GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ])('and %s are let go', async (_what, sent) => {
    const server = serving(await serveOnAddress(LOCAL, HANGING, null, HASTY));
    const socket = await connected(server);
    socket.write(sent);
    await ended(socket);
  });

  test('and drip a request are let go', async () => {
    const server = serving(await serveOnAddress(LOCAL, PORTS, null, HASTY));
    const socket = await connected(server);
    socket.write('GET /status HTTP/1.1\r\n');
    const drip = setInterval(() => socket.write('x: y\r\n'), 20);
    onTestFinished(() => {
      clearInterval(drip);
    });
    await ended(socket);
  });

  test('and are too many are turned away', async () => {
    const server = serving(await serveOnAddress(LOCAL, PORTS, null, { connections: 1, patienceMs: 60_000 }));
    const first = await connected(server);
    expect(await ended(await connected(server))).toBe('');
    first.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(await ended(first)).toMatch(/^HTTP\/1\.1 200 OK\r\n/u);
  });

  test('do not keep the server from closing', async () => {
    const server = serving(
      await serveOnAddress(LOCAL, HANGING, null, { connections: 9, patienceMs: 600_000 }),
    );
    const idle = await connected(server);
    const waiting = await connected(server);
    waiting.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const gone = Promise.all([ended(idle), ended(waiting)]);
    await Promise.all([server.close(), server.close()]);
    await gone;
    await server.close();
  });
});

describe('over the socket', () => {
  test('answers its owner alone, who may approve, and is gone when closed', async () => {
    const stateFile = stateFileIn();
    const previous = process.umask(0);
    onTestFinished(() => {
      process.umask(previous);
    });
    const server = serving(await serveOnSocket(stateFile, PORTS));
    expect(process.umask(0)).toBe(0);
    expect(server.address).toBe(`${stateFile}.socket`);
    expect(statSync(server.address).mode & 0o777).toBe(0o600);
    expect(await ask(stateFile)).toEqual({ kind: 'ok', status: 200, body: `{"pid":${process.pid}}\n` });
    expect(await ask(stateFile, '/nothing')).toMatchObject({ kind: 'ok', status: 404 });
    expect(
      await askDaemon(stateFile, 'POST', '/approve?source=docs&halt=1a', AbortSignal.timeout(20_000)),
    ).toEqual({
      kind: 'ok',
      status: 200,
      body: '{"approved":"docs"}\n',
    });
    await server.close();
    expect(existsSync(server.address)).toBe(false);
    expect(await ask(stateFile)).toEqual({ kind: 'absent' });
  });

  test('replaces what a dead process left', async () => {
    const stateFile = stateFileIn();
    const {
      child,
      firstLine,
      ended: over,
    } = run(
      'service/logger.ts',
      `import { createServer } from 'node:net';
       createServer().listen(${JSON.stringify(`${stateFile}.socket`)}, () => console.log('up'));`,
    );
    await firstLine;
    child.kill('SIGKILL');
    await over;
    expect(existsSync(`${stateFile}.socket`)).toBe(true);
    expect(await ask(stateFile)).toEqual({ kind: 'absent' });
    serving(await serveOnSocket(stateFile, PORTS));
    expect(await ask(stateFile)).toMatchObject({ kind: 'ok' });
  });

  test('leaves alone what is no socket', async () => {
    const stateFile = stateFileIn();
    writeFileSync(`${stateFile}.socket`, 'mine');
    expect(await serveOnSocket(stateFile, PORTS)).toEqual({
      kind: 'failed',
      reason: `cannot listen at ${stateFile}.socket: address in use`,
    });
    expect(statSync(`${stateFile}.socket`).size).toBe(4);
    expect(await ask(stateFile)).toEqual({ kind: 'absent' });
  });

  test('says why it cannot listen where there is no directory', async () => {
    const stateFile = stateFileIn();
    rmSync(join(stateFile, '..'), { recursive: true });
    expect(await serveOnSocket(stateFile, PORTS)).toMatchObject({ kind: 'failed' });
    expect(await ask(stateFile)).toEqual({ kind: 'absent' });
  });

  test('a daemon that does not answer is waited for as long as asked', async () => {
    const stateFile = stateFileIn();
    serving(await serveOnSocket(stateFile, HANGING));
    expect(await askDaemon(stateFile, 'GET', '/metrics', AbortSignal.timeout(50))).toEqual({
      kind: 'failed',
      reason: 'the running botsync did not answer in time',
    });
  });

  test('a daemon that ends before it answers has failed', async () => {
    const stateFile = stateFileIn();
    const server = createServer((socket) => socket.destroy()).listen(`${stateFile}.socket`);
    onTestFinished(() => {
      server.close();
    });
    await once(server, 'listening');
    expect(await ask(stateFile)).toEqual({
      kind: 'failed',
      reason: 'the running botsync ended before it answered',
    });
  });

  test('a file beside the state file of a name that is just short enough', async () => {
    const root = temporaryDirectory();
    const stateFile = join(root, 'x'.repeat(107 - '.socket'.length - root.length - 1));
    serving(await serveOnSocket(stateFile, PORTS));
    expect(await ask(stateFile)).toMatchObject({ kind: 'ok' });
  });
});

describe.runIf(process.platform === 'linux')('over a socket whose path is long', () => {
  test('answers like any other, and leaves nothing open', async () => {
    const stateFile = stateFileIn('ä'.repeat(100), 'y'.repeat(200));
    const isDirectoryOpen = (): boolean =>
      readdirSync('/proc/self/fd').some(
        (handle) => targetOf(`/proc/self/fd/${handle}`) === dirname(stateFile),
      );
    const server = serving(await serveOnSocket(stateFile, PORTS));
    expect(isDirectoryOpen()).toBe(true);
    expect(server.address).toBe(`${stateFile}.socket`);
    expect(statSync(server.address).mode & 0o777).toBe(0o600);
    expect(await ask(stateFile)).toMatchObject({ kind: 'ok', status: 200 });
    await server.close();
    expect(existsSync(`${stateFile}.socket`)).toBe(false);
    expect(await ask(stateFile)).toEqual({ kind: 'absent' });
    expect(isDirectoryOpen()).toBe(false);
  });

  test('is absent where the directory is', async () => {
    expect(await ask(join(temporaryDirectory(), 'y'.repeat(200), 'state.db'))).toEqual({ kind: 'absent' });
  });

  test('is refused when already the name is too long', async () => {
    const stateFile = join(temporaryDirectory(), 'z'.repeat(110));
    const reason = `the path ${stateFile}.socket is too long for a socket`;
    expect(await serveOnSocket(stateFile, PORTS)).toEqual({ kind: 'failed', reason });
    expect(await ask(stateFile)).toEqual({ kind: 'failed', reason });
  });
});
