import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { Churn, createDice, differences } from '../cli/churn.ts';
import { SEED } from '../seed.ts';
import { createDaemonWorld, type DaemonWorld, type RunningDaemon } from '../sync/daemon-world.ts';
import { eventually } from '../files/watch-fixture.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `npm run test:soak` sets them. A coarser grain skips ticks of the daemon, which is on the safe side: all comes later. */
const DAYS = Number(process.env['SOAK_DAYS'] ?? 40);
const GRAIN_MS = Number(process.env['SOAK_GRAIN_SECONDS'] ?? 300) * SECOND;

/** What the heap may grow by from the first third of the days to the last. */
const MOST_GROWTH = 1.15;

/** Files that nobody touches: only renewals keep them on the platform. */
const FIXED_FILES = 30;

/** How much is done to the other files in a day. */
const EDITS_A_DAY = 6;

/** So much time goes by at once; what the daemon has under way then goes on meanwhile. */
const STEP_MS = 30 * MINUTE;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

async function makeWorld(): Promise<DaemonWorld> {
  const world = await createDaemonWorld(
    {
      platform: { operations: 'auto' },
      sources: [{ directory: './docs' }, { directory: './fixed', botId: 'bot-2' }],
      rules: [
        { match: '**', source: 'docs', expiresIn: '2d', renewBefore: '12h' },
        { match: '**', source: 'fixed', expiresIn: '7d', renewBefore: '3d' },
      ],
      removals: { mode: 'expire', delay: '5s', maxCount: 1_000_000, maxFraction: 1 },
      watch: { rescan: '6h' },
    },
    // The clock runs on while bytes are under way: an upload address has to live long.
    { uploadUrlLifetimeMs: 30 * DAY, recordedRequestsMax: 10 },
    GRAIN_MS,
  );
  for (let n = 0; n < FIXED_FILES; n++) world.write(`fixed/${n}.md`, `fixed ${n}`);
  world.write('docs/first.md', 'first');
  return world;
}

function areFixedFilesThere(world: DaemonWorld): boolean {
  const numbers = Array.from({ length: FIXED_FILES }, (_, n) => n);
  return numbers.every((n) => world.remote(`${n}.md`, 'bot-2') === `fixed ${n}`);
}

/** What goes wrong on a day: credentials that are refused for a day and a half, a platform that is down, a machine asleep. */
function strike(day: number, { emulator, clock }: DaemonWorld): void {
  const { faults } = emulator;
  if (day % 20 === 8) faults.add({ operation: 'upsert', kind: 'status', status: 401, times: Infinity });
  if (day % 9 === 4) faults.add({ operation: 'upsert', kind: 'status', status: 503, times: Infinity });
  if (day % 9 === 7) faults.add({ operation: 'upload', kind: 'drop', times: 30 });
  if (day % 20 === 10 || day % 9 === 5) faults.clear();
  if (day % 7 === 3) clock.jumpWallClock(8 * HOUR);
}

async function liveThrough(
  day: number,
  world: DaemonWorld,
  running: RunningDaemon,
  churn: Churn,
): Promise<void> {
  strike(day, world);
  for (let edit = 0; edit < EDITS_A_DAY; edit++) {
    churn.step();
    await world.wait(DAY / EDITS_A_DAY, STEP_MS);
  }
  running.daemon.approve(null);
  if (day % 30 === 29) await Promise.all([running.reload(), world.wait(HOUR, STEP_MS)]);
  // What the tests themselves remember of it is no memory of the daemon's.
  for (const told of [running.events, running.passes, running.told]) told.length = 0;
  // One that is being renewed is without content for a moment, but there.
  if (world.keys('bot-2').length !== FIXED_FILES) throw new Error(`a file expired by day ${day}`);
}

test(`a daemon lives through ${DAYS} days (seed ${SEED})`, { timeout: DAY }, async () => {
  const world = await makeWorld();
  const docs = join(world.directory, 'docs');
  const churn = new Churn(docs, createDice(SEED));
  const running = await world.start();
  const heap: number[] = [];
  for (let day = 1; day <= DAYS; day++) {
    await liveThrough(day, world, running, churn);
    heap.push(heapBytes());
  }
  world.emulator.faults.clear();
  await eventually(async () => {
    await world.wait(HOUR, MINUTE);
    running.daemon.approve(null);
    return differences(docs, world.emulator, churn).length === 0 && areFixedFilesThere(world);
  }, 'the mirror is exact').catch(() => undefined);
  expect(differences(docs, world.emulator, churn)).toEqual([]);
  expect(areFixedFilesThere(world)).toBe(true);

  // The first days warm up.
  const third = Math.floor(heap.length / 3);
  const growth = median(heap.slice(-third)) / median(heap.slice(Math.floor(third / 3), third));
  expect(growth).toBeLessThan(MOST_GROWTH);
  await running.stop();
});
