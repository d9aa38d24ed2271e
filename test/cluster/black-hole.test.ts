import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startBlackHole, type BlackHole } from './black-hole.ts';

test('it passes both ways, ends included, and leads an address to itself', async () => {
  const { way, port } = await standWay();
  expect(way.lead(`postgresql://postgres@127.0.0.1:${port}/db?x=1`)).toBe(
    `postgresql://postgres@127.0.0.1:${way.port}/db?x=1`,
  );
  const client = await call(way);
  client.socket.end('hello');
  await once(client.socket, 'close');
  expect(client.heard).toBe('HELLO');
  expect(way.counts).toEqual({ accepted: 1, passedBytes: 10, swallowedBytes: 0 });
  await expect.poll(() => way.openConnections).toBe(0);
});

test('a lot passes, slowly read or not', async () => {
  const { way } = await standWay();
  const client = await call(way);
  client.socket.pause();
  const size = 8 * 2 ** 20;
  client.socket.end('a'.repeat(size));
  setTimeout(() => client.socket.resume(), 50);
  await once(client.socket, 'close');
  expect(client.heard.length).toBe(size);
  expect(way.counts.passedBytes).toBe(2 * size);
});

test('a black hole swallows bytes and ends both ways, and closes nothing; healed, what it tore is reset and the rest goes on', async () => {
  const { way, served } = await standWay();
  const [quiet, asking, answered, leaving] = [
    await call(way, 'a'),
    await call(way, 'b'),
    await call(way, 'c'),
    await call(way, 'd'),
  ];
  await expect.poll(() => [quiet.heard, asking.heard, answered.heard, leaving.heard].join('')).toBe('ABCD');

  await way.blackHole();
  asking.socket.write('lost');
  served.get('c')?.write('lost too');
  leaving.socket.destroy();
  const late = await call(way, 'into nothing');
  await expect
    .poll(() => way.counts.swallowedBytes)
    .toBe('lost'.length + 'lost too'.length + 'into nothing'.length);
  expect(way.counts).toMatchObject({ accepted: 5, passedBytes: 8 });
  expect([quiet, asking, answered, late].map(({ ended }) => ended)).toEqual([null, null, null, null]);
  // The server has not heard that one of its clients left.
  expect([...served.values()].map(({ readableEnded, destroyed }) => readableEnded || destroyed)).toEqual(
    Array(4).fill(false),
  );
  expect([asking.heard, answered.heard, late.heard]).toEqual(['B', 'C', '']);

  await way.pass();
  asking.socket.write('still lost');
  quiet.socket.write('found');
  await expect.poll(() => quiet.heard).toBe('AFOUND');
  expect(asking).toMatchObject({ heard: 'B', ended: null });

  await way.heal();
  await expect
    .poll(() => [asking, answered, late].map(({ ended }) => ended))
    .toEqual(Array(3).fill('ECONNRESET'));
  await expect.poll(() => way.openConnections).toBe(1);
  quiet.socket.write('!');
  await expect.poll(() => quiet.heard).toBe('AFOUND!');
  expect((await call(way, 'new')).ended).toBeNull();
});

test('it refuses like a machine without the server, until it passes again on the same port', async () => {
  const { way, served } = await standWay();
  const before = await call(way, 'a');
  await expect.poll(() => before.heard).toBe('A');
  await way.refuse();
  await expect.poll(() => before.ended).toBe('ECONNRESET');
  await expect.poll(() => served.get('a')?.destroyed).toBe(true);
  await expect(call(way)).rejects.toThrow('ECONNREFUSED');
  await way.heal();
  const after = await call(way, 'b');
  await expect.poll(() => after.heard).toBe('B');
});

test('a server that is not there resets who asks for it', async () => {
  const { way, stop } = await standWay();
  await stop();
  const client = await call(way);
  await expect.poll(() => client.ended).toBe('ECONNRESET');
});

/** A client, what it was told, and the code with which its connection ended: null as long as it has not. */
interface Caller {
  readonly socket: Socket;
  heard: string;
  ended: string | null;
}

async function call(way: BlackHole, first = ''): Promise<Caller> {
  const socket = connect(way.port, '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
  });
  const caller: Caller = { socket, heard: '', ended: null };
  await once(socket, 'connect');
  socket.on('data', (chunk: Buffer) => (caller.heard += chunk.toString()));
  socket.on('error', (error: NodeJS.ErrnoException) => (caller.ended = error.code ?? ''));
  socket.on('close', () => (caller.ended ??= 'closed'));
  socket.write(first);
  return caller;
}

/** A server that says everything again, louder, and a way to it. `served`: its connections, by the first it heard of each. */
async function standWay(): Promise<{
  way: BlackHole;
  port: number;
  served: ReadonlyMap<string, Socket>;
  stop: () => Promise<void>;
}> {
  const served = new Map<string, Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (chunk: Buffer) => served.set(chunk.toString(), socket));
    socket.setEncoding('utf8').on('data', (text: string) => {
      if (socket.write(text.toUpperCase())) return;
      socket.pause();
      socket.once('drain', () => socket.resume());
    });
    socket.once('end', () => socket.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const way = await startBlackHole('127.0.0.1', port);
  const stop = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of served.values()) socket.destroy();
    await closed;
  };
  onTestFinished(async () => {
    await way.close();
    await stop();
  });
  return { way, port, served, stop };
}
