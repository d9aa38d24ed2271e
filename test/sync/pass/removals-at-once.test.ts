import { expect, test } from 'vitest';
import type { FilePlatform } from '../../../src/domain/file-catalog.ts';
import { createWorld, type World } from '../world.ts';
import { plant } from '../daemon-world.ts';

const EXPIRE = { removals: { mode: 'expire', maxCount: 1000, maxFraction: 1 } };
const CONCURRENCY = 6;

async function emptied(world: World, files: number): Promise<void> {
  plant(world, files);
  await world.pass();
  for (let n = 1; n < files; n++) world.remove(`docs/f${n}.md`);
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
  const { platform, most } = gathering(world.connect(), CONCURRENCY);
  expect(await world.pass({ platform })).toMatchObject({
    exitCode: 0,
    summary: { removed: 3 * CONCURRENCY, unchanged: 1 },
  });
  expect(most()).toBe(CONCURRENCY);
});

test('one that fails does not stop the others', async () => {
  const world = await createWorld({ ...EXPIRE, upload: { concurrency: CONCURRENCY } });
  await emptied(world, 21);
  world.fail('upsert', 400, { key: 'f7.md' });
  expect(await world.pass()).toMatchObject({ exitCode: 3, summary: { removed: 19, failed: 1 } });
});

test('a state file that fails ends them all, and nothing is under way then', async () => {
  const world = await createWorld({ ...EXPIRE, upload: { concurrency: CONCURRENCY } });
  await emptied(world, 61);
  const platform = world.connect();
  let underWay = 0;
  let asked = 0;
  const store = world.open();
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
});
