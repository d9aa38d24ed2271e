import { writeSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createDice, type Dice } from '../cli/churn.ts';
import { SEED } from '../seed.ts';
import { FaultWorld, outOfOrder, type FaultyHost } from './fault-world.ts';
import { LEASE_MS } from './hosts.ts';
import { startPostgres } from './postgres.ts';
import { freezeFamily, thaw } from './processes.ts';

/** How long something is out of order: too short to be noticed, too long to begin anything, or longer than a lease. */
function trouble(dice: Dice): Promise<void> {
  const third = LEASE_MS / 3;
  const fromMs = [0, third, LEASE_MS][dice.roll(3)] ?? 0;
  return outOfOrder(fromMs + dice.roll(fromMs === LEASE_MS ? 500 : third));
}

/** What may happen to a host, its ways, or the database. */
const FAULTS = {
  kill: async (world: FaultWorld, one: FaultyHost, dice: Dice) => {
    await world.kill(one);
    if (dice.roll(2) > 0) await world.takenFrom(one);
    world.restart(one);
  },
  stop: async (world: FaultWorld, one: FaultyHost, dice: Dice) => {
    world.stop(one);
    await trouble(dice);
    world.wake(one);
  },
  'cut from the database': async (_: FaultWorld, one: FaultyHost, dice: Dice) => {
    await one.database.blackHole();
    await trouble(dice);
    await one.database.heal();
  },
  'cut from the platform': async (_: FaultWorld, one: FaultyHost, dice: Dice) => {
    await one.platform.blackHole();
    await trouble(dice);
    await one.platform.heal();
  },
  'cut from both': async (_: FaultWorld, one: FaultyHost, dice: Dice) => {
    await Promise.all([one.database.blackHole(), one.platform.blackHole()]);
    await trouble(dice);
    await Promise.all([one.platform.heal(), one.database.heal()]);
  },
  'slow line to the platform': async (_: FaultWorld, one: FaultyHost, dice: Dice) => {
    await one.platform.hold();
    await trouble(dice);
    await one.platform.pass();
  },
  'slow line to the database': async (_: FaultWorld, one: FaultyHost, dice: Dice) => {
    await one.database.hold();
    await trouble(dice);
    await one.database.pass();
  },
  'no database': async (world: FaultWorld, _: FaultyHost, dice: Dice) => {
    await world.server.killHard();
    await trouble(dice);
    await world.server.start();
  },
  'frozen database': async (world: FaultWorld, _: FaultyHost, dice: Dice) => {
    const frozen = await freezeFamily(world.server.pid ?? 0);
    await trouble(dice);
    thaw(frozen);
  },
  failover: async (world: FaultWorld, _: FaultyHost, dice: Dice) => {
    const snapshot = await world.server.snapshot();
    world.churn(dice, 10);
    await outOfOrder(dice.roll(500));
    await world.server.killHard();
    world.witness.doubtLastShipment();
    await world.server.restore(snapshot);
    await trouble(dice);
    await world.server.start();
  },
  'failover, then prune': async (world: FaultWorld, one: FaultyHost, dice: Dice) => {
    await FAULTS.failover(world, one, dice);
    await world.prune(one);
  },
  'a mount that comes': async (world: FaultWorld, _: FaultyHost, dice: Dice) => {
    const uncover = world.coverStillFiles();
    await trouble(dice);
    uncover();
  },
  move: async (world: FaultWorld) => {
    await world.move();
  },
  blind: async (world: FaultWorld, one: FaultyHost, dice: Dice) => {
    // One host as a rule, and now and then all of them.
    const blind = dice.roll(4) > 0 ? [one] : world.all;
    for (const host of blind) world.unmount(host, dice.roll(2) === 0);
    await trouble(dice);
    // Those that see it take it; a holder is sure after half a lease that it does not see it.
    if (dice.roll(2) === 0 && blind.length < world.all.length) await world.takenFrom(one);
    for (const host of blind) world.mount(host);
  },
  'changed prefix': async (world: FaultWorld, _: FaultyHost, dice: Dice) => {
    await world.changePrefix(dice);
  },
  'removals turned on': async (world: FaultWorld, _: FaultyHost, dice: Dice) => {
    await world.keepForAWhile(dice);
  },
} as const;

type FaultName = keyof typeof FAULTS;

const NAMES = Object.keys(FAULTS) as FaultName[];

/** Nothing else may be deleted or written meanwhile: what becomes of it depends on when it is noticed. */
const QUIET: ReadonlySet<FaultName> = new Set(['removals turned on', 'changed prefix']);
const ROUNDS = Number(process.env['CLUSTER_ROUNDS'] ?? 0);

/** Hosts mostly wait for leases: so many clusters, each with a database of its own, keep a machine busy. */
const WORLDS = Number(process.env['CLUSTER_WORLDS'] ?? 3);

let begun = 0;

function say(words: string): void {
  writeSync(1, `${new Date().toISOString()} ${words}\n`);
}

/** Strikes one cluster after the other fault. Throws at the first thing that is missing or wrong. */
async function strike(seed: number): Promise<void> {
  const dice = createDice(seed);
  const server = await startPostgres();
  const hosts = 2 + dice.roll(3);
  const world = await FaultWorld.create(server, { hosts });
  world.writeStillFiles();
  try {
    for (let round = 0; begun < ROUNDS; round += 1) {
      begun += 1;
      const drawn = NAMES[dice.roll(NAMES.length)] as FaultName;
      // The holder as a rule, and now and then one that waits.
      const struck = dice.roll(5) > 0 ? await world.holder() : (world.all[dice.roll(hosts)] as FaultyHost);
      world.churn(dice, 1 + dice.roll(40));
      await outOfOrder(dice.roll(300));
      const words = `round ${round} of ${hosts} hosts, seed ${seed}: ${drawn}, ${struck.name}`;
      const churning = (async () => {
        for (let step = QUIET.has(drawn) ? 0 : dice.roll(6); step > 0; step -= 1) {
          await outOfOrder(200);
          world.churn(dice, 3);
        }
      })();
      const from = performance.now();
      await Promise.all([FAULTS[drawn](world, struck, dice), churning]);
      await world.settle({ isForgetful: drawn.startsWith('failover'), words });
      world.witness.forget();
      say(`${begun} ${words}, ${Math.round(performance.now() - from)} ms`);
    }
  } finally {
    await world.end();
    await server.close();
  }
}

// What they come upon depends on the machine: by hand, with `npm run test:cluster`.
test.runIf(ROUNDS > 0)(
  `${ROUNDS} faults, seed ${SEED}: nothing missing, nothing wrong`,
  { timeout: ROUNDS * 60_000 },
  async () => {
    const failures: string[] = [];
    const worlds = Array.from({ length: WORLDS }, async (_, world) => {
      // Where one failed another goes on: each failure is told with its seed.
      for (let seed = SEED + world; begun < ROUNDS; seed += WORLDS) {
        await strike(seed).catch((error: unknown) => {
          const { message, stack, actual } = error as Error & { readonly actual?: unknown };
          say(`FAILED seed ${seed}: ${stack ?? message}\n${JSON.stringify(actual, null, 1)}`);
          failures.push(message);
        });
      }
    });
    await Promise.all(worlds);
    expect(failures).toEqual([]);
  },
);
