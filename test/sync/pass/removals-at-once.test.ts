import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FilePlatform } from '../../../src/domain/file-catalog.ts';
import { openState } from '../../../src/store/open.ts';
import { connectTo, createWorld, type World } from '../world.ts';
import { plant } from '../daemon-world.ts';

const EXPIRE = { removals: { mode: 'expire', maxCount: 1000, maxFraction: 1 } };
const CONCURRENCY = 6;

async function emptied(world: World, files: number): Promise<void> {
  plant(world, files);
  await world.pass();
  for (let n = 1; n < files; n++) rmSync(join(world.directory, `docs/f${n}.md`));
}

/** A platform that answers no upsert before so many wait for it, or nothing moves any more. */
function gathering(platform: FilePlatform, enough: number): { platform: FilePlatform; most: () => number } {
  let waiting: (() => void)[] = [];
  let most = 0;
  const release = (): void => {
    for (const go of waiting) go();
    waiting = [];
  };
  return {
    most: () => most,
    platform: {
      upsert: async (botId, body, signal) => {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          most = Math.max(most, waiting.length);
          if (waiting.length >= enough) release();
          else setTimeout(release, 2000);
        });
        return await platform.upsert(botId, body, signal);
      },
      upload: (...args) => platform.upload(...args),
      storeBytesPerSecond: () => null,
      now: () => platform.now(),
      isTimeKnown: () => platform.isTimeKnown(),
    },
  };
}

test('as many removals are under way at a time as uploads', async () => {
  const world = await createWorld({ ...EXPIRE, upload: { concurrency: CONCURRENCY } });
  await emptied(world, 3 * CONCURRENCY + 1);
  const connection = connectTo(world.emulator, world.config(), world.clock);
  const { platform, most } = gathering(connection.platform, CONCURRENCY);
  expect(await world.pass({ platform })).toMatchObject({
    exitCode: 0,
    summary: { removed: 3 * CONCURRENCY, unchanged: 1 },
  });
  expect(most()).toBe(CONCURRENCY);
  await connection.close();
});

test('one that fails does not stop the others', async () => {
  const world = await createWorld({ ...EXPIRE, upload: { concurrency: CONCURRENCY } });
  await emptied(world, 21);
  world.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 400, key: 'f7.md' });
  expect(await world.pass()).toMatchObject({ exitCode: 3, summary: { removed: 19, failed: 1 } });
});

test('a state file that fails ends them all, and nothing is under way then', async () => {
  const world = await createWorld({ ...EXPIRE, upload: { concurrency: CONCURRENCY } });
  await emptied(world, 301);
  const connection = connectTo(world.emulator, world.config(), world.clock);
  const { platform } = connection;
  let underWay = 0;
  let asked = 0;
  const opened = openState(world.config().stateFile, { checkThoroughly: false, nowMs: world.clock.now() });
  if (opened.kind !== 'open') throw new Error(opened.kind);
  const { store } = opened;
  const failing: FilePlatform = {
    upsert: async (botId, body, signal) => {
      asked += 1;
      underWay += 1;
      if (asked === 10) store.close();
      const answered = await platform.upsert(botId, body, signal);
      underWay -= 1;
      return answered;
    },
    upload: (...args) => platform.upload(...args),
    storeBytesPerSecond: () => null,
    now: () => platform.now(),
    isTimeKnown: () => platform.isTimeKnown(),
  };
  await expect(world.pass({ platform: failing, state: store })).rejects.toThrow();
  expect(underWay).toBe(0);
  expect(asked).toBeLessThanOrEqual(10 + CONCURRENCY);
  await connection.close();
});
