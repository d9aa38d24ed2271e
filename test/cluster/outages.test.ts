import { describe, expect, test } from 'vitest';
import { createDice, type Dice } from '../cli/churn.ts';
import { SEED } from '../seed.ts';
import { FaultWorld, outOfOrder, PATIENCE } from './fault-world.ts';
import { serverOfFile } from './postgres.ts';
import { freezeFamily, thaw } from './processes.ts';

const server = await serverOfFile();

/** The files that the ledger has on record, as they were sent. */
async function recorded(world: FaultWorld): Promise<unknown[]> {
  const asText = `SELECT body ->> 'key' AS key, state, body ->> 'fingerprint' AS fingerprint FROM botsync.file ORDER BY 1`;
  return await world.hosts.sql(asText).catch(() => []);
}

/** Longer than a server takes to come back on a busy machine. */
const LONG_LEASE_MS = 12_000;

/** The database is gone for a while, from the midst of what it is told. */
async function outage(world: FaultWorld, dice: Dice, ms: number): Promise<void> {
  world.churn(dice, 30);
  await server.killHard();
  world.churn(dice, 30);
  await outOfOrder(ms);
  await server.start();
  await world.settle();
}

/** The database fails over to a copy that lacks what came after it was made. */
async function failOver(lost: () => Promise<void>): Promise<void> {
  const snapshot = await server.snapshot();
  await lost();
  if (server.pid !== null) await server.killHard();
  await server.restore(snapshot);
  await server.start();
}

describe('a database', { timeout: 300_000 }, () => {
  test('that is gone for 3 s, or stands still in the midst of a shipment, keeps nothing from being sent for good', async () => {
    const dice = createDice(SEED);
    const world = await FaultWorld.create(server);
    world.churn(dice, 60);
    await expect.poll(() => world.testimony().files.length, PATIENCE).toBeGreaterThan(0);
    const frozen = await freezeFamily(server.pid ?? 0);
    await outOfOrder(2000);
    thaw(frozen);
    await world.settle();
    await outage(world, dice, 3000);
  });

  test('that is gone for 20 s keeps nothing from being sent for good', async () => {
    await outage(await FaultWorld.create(server), createDice(SEED + 1), 20_000);
  });

  test('that forgets who holds a unit, and what it sent, learns it from the platform', async () => {
    const dice = createDice(SEED);
    const world = await FaultWorld.create(server, { leaseMs: LONG_LEASE_MS });
    world.churn(dice, 30);
    await world.settle();
    const first = await world.holder();
    let before: unknown[] = [];
    await failOver(async () => {
      await world.move();
      await world.takenFrom(first);
      world.churn(dice, 30);
      await world.settle();
      before = await recorded(world);
    });
    await expect.poll(() => recorded(world), PATIENCE).toEqual(before);
    world.churn(dice, 10);
    await world.settle({ isForgetful: true });
  });

  test('that forgets what it took from a holder whose lease ran out meanwhile learns it from the platform', async () => {
    const dice = createDice(SEED);
    const world = await FaultWorld.create(server);
    world.churn(dice, 30);
    await world.settle();
    await failOver(async () => {
      world.churn(dice, 30);
      world.write('gone.md');
      await world.settle();
      await server.killHard();
      await expect.poll(() => world.story(), PATIENCE).toContain('could not be proven in time');
      world.remove('gone.md');
    });
    // The platform has it, and the database never heard of it.
    const from = performance.now();
    await world.settle({ isForgetful: true });
    expect(performance.now() - from).toBeLessThan(60_000);
  });
});
