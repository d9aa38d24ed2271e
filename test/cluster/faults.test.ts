import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDice } from '../cli/churn.ts';
import { SEED } from '../seed.ts';
import { FaultWorld, outOfOrder, PATIENCE } from './fault-world.ts';
import { startPostgres, type PostgresServer } from './postgres.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(async () => {
  await server.close();
});

describe(
  'another host goes on, nothing is missing, and nothing is done without a right to it, when',
  { timeout: 90_000 },
  () => {
    test('the holder is killed, stopped, and cut off from the database, the platform, or both', async () => {
      const dice = createDice(SEED);
      const world = await FaultWorld.create(server);
      world.churn(dice, 40);
      await world.settle();

      const killed = await world.holder();
      world.churn(dice, 40);
      await expect.poll(() => world.testimony().arrivals.length, PATIENCE).toBeGreaterThan(80);
      await world.kill(killed);
      world.churn(dice, 10);
      await world.takenFrom(killed);
      world.restart(killed);
      await world.settle();

      const stopped = await world.holder();
      world.churn(dice, 40);
      world.stop(stopped);
      await world.takenFrom(stopped);
      world.churn(dice, 10);
      world.wake(stopped);
      await world.settle();

      for (const ways of [['database'], ['database', 'platform'], ['platform']] as const) {
        const cut = await world.holder();
        world.churn(dice, 40);
        for (const way of ways) await cut[way].blackHole();
        world.churn(dice, 10);
        if (ways[0] === 'database') await world.takenFrom(cut);
        else await outOfOrder(1000);
        for (const way of ways) await cut[way].heal();
        await world.settle();
      }
    });
  },
);
