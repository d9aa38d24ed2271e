import { describe, expect, test } from 'vitest';
import { FaultWorld, outOfOrder, PATIENCE, type FaultyHost } from './fault-world.ts';
import { LEASE_MS } from './hosts.ts';
import { serverOfFile } from './postgres.ts';
import type { Arrival } from './witness.ts';

const server = await serverOfFile();

/** More than is read as a whole, in two parts. */
const STREAMED_BYTES = 300_000;

/** Resolves with the next request of a host for an operation, as soon as its first line has come. */
function next(
  world: FaultWorld,
  operation: Arrival['operation'],
  then: () => void = () => undefined,
): Promise<Arrival> {
  return new Promise((resolve) => {
    world.witness.arrived = (arrival) => {
      if (arrival.operation !== operation) return;
      world.witness.arrived = () => undefined;
      then();
      resolve(arrival);
    };
  });
}

const sent = (world: FaultWorld, { name }: FaultyHost): number =>
  world.testimony().arrivals.filter(({ host, operation }) => host === name && operation === 'upsert').length;

describe('nothing of a former holder arrives late:', { timeout: 200_000 }, () => {
  test('upserts that waited for their turn when the database went, or the host was stopped', async () => {
    const world = await FaultWorld.create(server, { config: { upload: { maxRequestsPerSecond: 8 } } });
    const cut = await world.holder();
    for (let i = 0; i < 28; i += 1) world.write(`a${i}.md`);
    await expect.poll(() => sent(world, cut), PATIENCE).toBeGreaterThan(2);
    await cut.database.blackHole();
    await world.takenFrom(cut);
    await cut.database.heal();
    const stopped = await world.holder();
    const before = sent(world, stopped);
    await expect.poll(() => sent(world, stopped), PATIENCE).toBeGreaterThan(before + 2);
    world.stop(stopped);
    await world.takenFrom(stopped);
    world.wake(stopped);
    await world.settle();
  });

  test('the last part of a content that was being streamed when the host was stopped', async () => {
    const world = await FaultWorld.create(server, { config: { upload: { maxBytesPerSecond: 200_000 } } });
    const stopped = await world.holder();
    const uploading = next(world, 'upload', () => {
      world.stop(stopped);
    });
    world.write('a.md', STREAMED_BYTES);
    const upload = await uploading;
    await world.takenFrom(stopped);
    world.wake(stopped);
    await world.settle();
    expect(upload).toMatchObject({ host: stopped.name, endAt: null });
  });

  test('what the kernel still has when the lease ends', async () => {
    const world = await FaultWorld.create(server);
    const cut = await world.holder();
    const upload = await heldUpload(world, cut);
    await cut.database.blackHole();
    await world.takenFrom(cut);
    await cut.platform.pass();
    await cut.database.heal();
    await world.settle();
    expect(upload).toMatchObject({ host: cut.name, endAt: null });
  });
});

describe('what arrives late of a host that was killed', { timeout: 200_000 }, () => {
  test('is repaired: it is sent once more when nothing can be on its way any more', async () => {
    const world = await FaultWorld.create(server, { cluster: { suspectAfter: `${LEASE_MS * 2}ms` } });
    const content = world.write('a.md');
    await world.settle();
    const killed = await world.holder();
    await killed.platform.hold();
    world.write('a.md');
    await expect.poll(() => killed.platform.heldBytes, PATIENCE).toBeGreaterThan(0);
    await world.kill(killed);
    await world.takenFrom(killed);
    await world.settle();
    // What was there before: the same content would be no less of a loss.
    expect(content).not.toBe(world.hosts.emulator.readContent('bot-1', 'a.md')?.toString());
    await killed.platform.pass();
    await expect.poll(() => world.differences(), PATIENCE).toEqual(['a.md is missing']);
    await expect.poll(() => world.differences(), PATIENCE).toEqual([]);
  });
});

/** An upload whose end is still in the kernel: on a fast machine some are over before the way is held. */
async function heldUpload(world: FaultWorld, cut: FaultyHost): Promise<Awaited<ReturnType<typeof next>>> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    let held: Promise<void> = Promise.resolve();
    const uploading = next(world, 'upload', () => {
      held = Promise.resolve(cut.platform.hold());
    });
    world.write(`a${attempt}.md`, STREAMED_BYTES);
    const upload = await uploading;
    await held;
    // What was past the way already comes to its end meanwhile.
    await outOfOrder(300);
    if (upload.endAt === null) return upload;
    await cut.platform.pass();
  }
  throw new Error('every upload was over before its way was held');
}
