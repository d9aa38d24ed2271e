import { createServer, type ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Lease, momentOf, type Fence } from '../../src/domain/lease.ts';
import { Throughput } from '../../src/domain/throughput.ts';
import { PlatformFiles } from '../../src/platform/files.ts';
import { contentBody, type OpenBody } from '../../src/platform/open-body.ts';
import { Pacer } from '../../src/platform/pacer.ts';
import { ManualClock } from '../manual-clock.ts';
import { connect, inChunks, listenOnFreePort, NEVER, SimulatedClock, upsertBody } from './fixture.ts';

const LEASE_MS = 3000;

interface FencedClient {
  readonly platform: PlatformFiles;
  readonly clock: ManualClock;
  readonly lease: Lease;
  /** What arrived, by its method and path. */
  readonly arrived: readonly string[];
}

/** A client under a lease, and a server that takes everything. */
async function fenced(maxRequestsPerSecond: number | null = null): Promise<FencedClient> {
  const arrived: string[] = [];
  const server = createServer((request, response: ServerResponse) => {
    arrived.push(`${request.method ?? ''} ${request.url ?? ''}`);
    request.resume().on('end', () => {
      const file = { id: 'f1', key: 'a', uploadUrl: `${base}/store/a`, size: 1, tags: {}, metadata: {} };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ file }));
    });
  });
  const base = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const clock = new ManualClock();
  const { http } = connect(base, { clock, limits: { maxRequestsPerSecond } });
  const lease = new Lease(LEASE_MS, clock, momentOf(clock));
  const platform = new PlatformFiles(http.under(lease), base, { token: 't', identityHeaders: {} });
  return { platform, clock, lease, arrived };
}

const address = (client: FencedClient): Promise<{ kind: string }> =>
  client.platform.upsert('bot', upsertBody('a', 1), NEVER);

describe('a request under a lease', () => {
  test('leaves while something may be begun', async () => {
    const client = await fenced();
    expect(await address(client)).toMatchObject({ kind: 'ok' });
    expect(client.arrived).toEqual(['PUT /v1/files']);
  });

  test('waits for the next proof after a third of it, and leaves then', async () => {
    const client = await fenced();
    await client.clock.advance(1001);
    const sending = address(client);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(client.arrived).toEqual([]);
    client.lease.prove(momentOf(client.clock));
    expect(await sending).toMatchObject({ kind: 'ok' });
  });

  test('never leaves once it is over, and was not carried out then', async () => {
    const client = await fenced();
    await client.clock.advance(1001);
    const sending = address(client);
    client.lease.end();
    expect(await sending).toMatchObject({
      kind: 'failed',
      failure: { kind: 'transient', notCarriedOut: true },
    });
    expect(client.arrived).toEqual([]);
  });

  test('is asked for after its turn has come, not before', async () => {
    const client = await fenced(1);
    expect(await address(client)).toMatchObject({ kind: 'ok' });
    const sending = address(client);
    await client.clock.advance(1500);
    client.lease.end();
    expect(await sending).toMatchObject({ kind: 'failed' });
    expect(client.arrived).toHaveLength(1);
  });
});

test('a small content leaves after a third of the lease, and never near its end', async () => {
  const { platform, clock, lease, arrived } = await fenced();
  const upserted = await platform.upsert('bot', upsertBody('a', 1), NEVER);
  if (upserted.kind !== 'ok') throw new Error('there is no upload address');
  const upload = (): Promise<{ kind: string }> =>
    platform.upload(upserted.value, { kind: 'whole', bytes: Buffer.from('a') }, false, NEVER);
  await clock.advance(1001);
  expect(await upload()).toMatchObject({ kind: 'ok' });
  expect(arrived).toHaveLength(2);
  await clock.advance(1400);
  const late = upload();
  lease.end();
  expect(await late).toMatchObject({ kind: 'failed', failure: { notCarriedOut: true } });
  expect(arrived).toHaveLength(2);
});

test('a request is asked for again when there is a connection for it', async () => {
  const client = await fenced();
  const { lease } = client;
  let asked = 0;
  const mayBegin = lease.mayBegin;
  lease.mayBegin = () => {
    asked += 1;
    const may = mayBegin();
    lease.end();
    return may;
  };
  expect(await address(client)).toMatchObject({
    kind: 'failed',
    failure: { kind: 'transient', notCarriedOut: true },
  });
  expect(asked).toBe(2);
  expect(client.arrived).toEqual([]);
});

const unlimited = (): Pacer =>
  new Pacer(
    { maxBytesPerSecond: null, maxRequestsPerSecond: null, longestPauseMs: Infinity },
    new SimulatedClock(),
  );

/** A fence that lets nothing be finished until it is told, or for good. */
class Shut implements Fence {
  isOpen = false;
  readonly asked: string[] = [];
  #wake: () => void = () => undefined;
  mayBegin = (): boolean => this.isOpen;
  mayFinish = (): boolean => this.isOpen;
  proven = (): Promise<void> => new Promise((resolve) => (this.#wake = resolve));
  wake(): void {
    this.#wake();
  }
}

async function read(body: OpenBody, into: number[]): Promise<void> {
  for await (const chunk of body.content as AsyncIterable<Buffer>) into.push(chunk.length);
}

describe('the end of a content under a lease', () => {
  const streamed = (fence: Fence): OpenBody => {
    const chunks = inChunks(Buffer.alloc(2500), 1000);
    return contentBody(
      { kind: 'stream', sizeBytes: 2500, chunks },
      unlimited(),
      new Throughput(),
      fence,
      NEVER,
    );
  };

  test('waits until it may go', async () => {
    const fence = new Shut();
    const parts: number[] = [];
    const reading = read(streamed(fence), parts);
    await new Promise((resolve) => setImmediate(resolve));
    expect(parts).toEqual([1000, 1000]);
    fence.isOpen = true;
    fence.wake();
    await reading;
    expect(parts).toEqual([1000, 1000, 500]);
  });

  test('is only its last bytes: what came before has left the process by then', async () => {
    const fence = new Shut();
    const parts: number[] = [];
    const chunks = inChunks(Buffer.alloc(5000), 5000);
    const content = { kind: 'stream', sizeBytes: 5000, chunks } as const;
    const reading = read(contentBody(content, unlimited(), new Throughput(), fence, NEVER), parts);
    await new Promise((resolve) => setImmediate(resolve));
    expect(parts).toEqual([3976]);
    fence.isOpen = true;
    fence.wake();
    await reading;
    expect(parts).toEqual([3976, 1024]);
  });

  test('never goes once the lease is over: the store is left with a part', async () => {
    const fence = new Shut();
    const parts: number[] = [];
    const reading = read(streamed(fence), parts);
    await new Promise((resolve) => setImmediate(resolve));
    fence.wake();
    await expect(reading).rejects.toThrow('lease');
    expect(parts).toEqual([1000, 1000]);
  });

  test('that is all of it waits as well, where it waits for our own limit', async () => {
    const pacer = new Pacer(
      { maxBytesPerSecond: 1000, maxRequestsPerSecond: null, longestPauseMs: Infinity },
      new SimulatedClock(),
    );
    // What was sent before has used up the limit.
    await pacer.bytes(5000, NEVER);
    const fence = new Shut();
    const parts: number[] = [];
    const whole = { kind: 'whole', bytes: Buffer.alloc(500) } as const;
    const reading = read(contentBody(whole, pacer, new Throughput(), fence, NEVER), parts);
    await new Promise((resolve) => setTimeout(resolve, 20));
    fence.wake();
    await expect(reading).rejects.toThrow('lease');
    expect(parts).toEqual([]);
  });
});
