import { writeSync } from 'node:fs';
import { afterAll, beforeAll, test } from 'vitest';
import { createDice, type Dice } from '../cli/churn.ts';
import { SEED } from '../seed.ts';
import { FaultWorld, outOfOrder, type FaultyHost } from './fault-world.ts';
import { LEASE_MS } from './hosts.ts';
import { startPostgres, type PostgresServer } from './postgres.ts';
import { freezeFamily, thaw } from './processes.ts';

/** What may happen to a host, its ways, or the database. */
const FAULTS = {
  kill: async (world: FaultWorld, one: FaultyHost, dice: Dice) => {
    await world.kill(one);
    if (dice.roll(3) > 0) await world.takenFrom(one);
    world.restart(one);
  },
  stop: async (world: FaultWorld, one: FaultyHost, dice: Dice) => {
    world.stop(one);
    await outOfOrder(dice.roll(LEASE_MS * 2));
    world.wake(one);
  },
  'cut from the database': async (_: FaultWorld, one: FaultyHost, dice: Dice) => {
    await one.database.blackHole();
    await outOfOrder(dice.roll(LEASE_MS * 2));
    await one.database.heal();
  },
  'cut from the platform': async (_: FaultWorld, one: FaultyHost, dice: Dice) => {
    await one.platform.blackHole();
    await outOfOrder(dice.roll(LEASE_MS));
    await one.platform.heal();
  },
  'cut from both': async (_: FaultWorld, one: FaultyHost, dice: Dice) => {
    await Promise.all([one.database.blackHole(), one.platform.blackHole()]);
    await outOfOrder(dice.roll(LEASE_MS * 2));
    await Promise.all([one.platform.heal(), one.database.heal()]);
  },
  'slow line to the platform': async (_: FaultWorld, one: FaultyHost, dice: Dice) => {
    await one.platform.hold();
    await outOfOrder(dice.roll(LEASE_MS));
    await one.platform.pass();
  },
  'no database': async (world: FaultWorld, _: FaultyHost, dice: Dice) => {
    await world.server.killHard();
    await outOfOrder(dice.roll(LEASE_MS * 2));
    await world.server.start();
  },
  'frozen database': async (world: FaultWorld, _: FaultyHost, dice: Dice) => {
    const frozen = await freezeFamily(world.server.pid ?? 0);
    await outOfOrder(dice.roll(LEASE_MS * 2));
    thaw(frozen);
  },
  failover: async (world: FaultWorld, _: FaultyHost, dice: Dice) => {
    const snapshot = await world.server.snapshot();
    world.churn(dice, 10, false);
    await outOfOrder(dice.roll(500));
    await world.server.killHard();
    await world.server.restore(snapshot);
    await world.server.start();
  },
  move: async (world: FaultWorld) => {
    await world.move();
  },
} as const;

type FaultName = keyof typeof FAULTS;

const NAMES = Object.keys(FAULTS) as FaultName[];
const ROUNDS = Number(process.env['CLUSTER_ROUNDS'] ?? NAMES.length);
const isLong = process.env['CLUSTER_ROUNDS'] !== undefined;

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(async () => {
  await server.close();
});

// What they come upon depends on the machine: by hand, with `npm run test:cluster`.
test.runIf(process.env['CLUSTER_ROUNDS'] !== undefined)(
  `${ROUNDS} faults, seed ${SEED}: nothing missing, nothing wrong`,
  { timeout: ROUNDS * 60_000 },
  async () => {
    const dice = createDice(SEED);
    const world = await FaultWorld.create(server, { hosts: 3 });
    for (let round = 0; round < ROUNDS; round += 1) {
      const drawn = NAMES[(isLong ? dice.roll(NAMES.length) : round) % NAMES.length] as FaultName;
      // The holder as a rule, and now and then one that waits.
      const struck = dice.roll(5) > 0 ? await world.holder() : (world.all[dice.roll(3)] as FaultyHost);
      world.churn(dice, 1 + dice.roll(40));
      await outOfOrder(dice.roll(300));
      const words = `round ${round}, seed ${SEED}: ${drawn}, ${struck.name}`;
      if (isLong) writeSync(1, `${new Date().toISOString()} ${words}\n`);
      // Of a file that was sent and removed since, a database that forgot it tells nobody where the lease ran out meanwhile.
      const mayRemove = drawn !== 'failover';
      const churning = (async () => {
        for (let step = dice.roll(6); step > 0; step -= 1) {
          await outOfOrder(200);
          world.churn(dice, 3, mayRemove);
        }
      })();
      await Promise.all([FAULTS[drawn](world, struck, dice), churning]);
      await world.settle({ mayLose: drawn === 'failover', words });
      world.witness.forget();
    }
  },
);
