import { describe, expect, test } from 'vitest';
import { createDice } from '../cli/churn.ts';
import { SEED } from '../seed.ts';
import { FaultWorld, PATIENCE } from './fault-world.ts';
import { serverOfFile } from './postgres.ts';

const server = await serverOfFile();

describe('a host that is stopped inside a shipment', { timeout: 200_000 }, () => {
  test('which the ledger takes: the next holder goes on from there', async () => {
    const world = await FaultWorld.create(server);
    world.churn(createDice(SEED), 20);
    await world.settle();
    const stopped = await world.holder();
    const other = await server.connect(world.hosts.database);
    await other.query('BEGIN; LOCK TABLE botsync.file IN SHARE ROW EXCLUSIVE MODE');
    world.write('a.md');
    const shipping = `SELECT FROM pg_stat_activity WHERE datname = '${world.hosts.database}' AND wait_event_type = 'Lock' AND query LIKE 'WITH fence%'`;
    await expect.poll(() => server.query(shipping), PATIENCE).toHaveLength(1);
    world.stop(stopped);
    await other.query('COMMIT');
    await expect
      .poll(() => world.hosts.sql(`SELECT state FROM botsync.file WHERE body ->> 'key' = 'a.md'`), PATIENCE)
      .toEqual([{ state: 'sending' }]);
    await world.takenFrom(stopped);
    world.wake(stopped);
    await world.settle();
  });

  test('which arrives after another has taken the unit: it changes nothing', async () => {
    const world = await FaultWorld.create(server);
    world.churn(createDice(SEED), 20);
    await world.settle();
    const stopped = await world.holder();
    // From there on: a beat that is held would end the lease before anything is shipped.
    await stopped.database.hold('"key":"a.md"');
    world.write('a.md');
    await expect.poll(() => stopped.database.heldText, PATIENCE).toContain('"key":"a.md"');
    world.stop(stopped);
    await world.takenFrom(stopped);
    const waiting = world.all.filter((one) => one !== stopped);
    await expect.poll(() => world.differences(), PATIENCE).toEqual([]);
    const stands = (): Promise<unknown[]> =>
      world.hosts.sql(`SELECT state, epoch, body::text FROM botsync.file ORDER BY key_hash`);
    await expect.poll(async () => JSON.stringify(await stands()), PATIENCE).not.toContain('"sending"');
    const before = await stands();
    const [now] = await server.query('SELECT clock_timestamp()::text AS at');
    await stopped.database.pass();
    await expect.poll(() => stopped.database.heldBytes, PATIENCE).toBe(0);
    const late = `SELECT FROM pg_stat_activity WHERE application_name = 'botsync ${stopped.name}' AND query LIKE 'WITH fence%' AND query_start > '${String(now?.['at'])}' AND state = 'idle'`;
    await expect.poll(() => server.query(late), PATIENCE).not.toEqual([]);
    expect(await stands()).toEqual(before);
    world.wake(stopped);
    await world.settle();
    expect(waiting.map(({ name }) => name)).toContain((await world.holder()).name);
  });
});
