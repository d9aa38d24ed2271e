import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { MARK_NAME, markOf } from '../../../src/domain/mark.ts';
import {
  createDaemonWorld,
  removedKeys,
  requestsFor,
  type DaemonWorld,
  type RunningDaemon,
} from '../daemon-world.ts';
import { putAs } from '../others.ts';

const MINUTE = 60_000;

/** What a host sent before it ended may arrive for a minute from now, of every file on record and of one of which nothing is. */
function suspectAll(world: DaemonWorld): void {
  const againAtMs = world.clock.now() + MINUTE;
  world.sql('INSERT INTO suspect (target, key, again_at) SELECT target, key, ? FROM file', againAtMs);
  world.sql("INSERT INTO suspect (target, key, again_at) SELECT id, 'forgotten', ? FROM target", againAtMs);
}

const suspects = (world: DaemonWorld): unknown[] => world.sql('SELECT key FROM suspect');

test('a file of which something may still be on its way is sent once more when it cannot be any longer', async () => {
  const world = await createDaemonWorld();
  world.write('docs/a.md', 'one');
  const before = await world.start();
  await before.stop();
  suspectAll(world);
  const after = await world.start();
  await world.wait(MINUTE - 2000);
  expect(requestsFor(world, 'upsert')).toBe(1);
  await world.until(() => requestsFor(world, 'upload') === 2, 'it is sent once more');
  await world.wait(10 * MINUTE, MINUTE);
  await after.stop();
  expect(requestsFor(world, 'upsert')).toBe(2);
  expect(world.remote('a.md')).toBe('one');
  expect(suspects(world)).toEqual([]);
});

test('one that was put away is put away once more', async () => {
  const world = await createDaemonWorld({ removals: { mode: 'expire', delay: '1s', maxFraction: 1 } });
  world.write('docs/a.md', 'one');
  world.write('docs/b.md', 'two');
  const before = await world.start();
  world.remove('docs/a.md');
  await world.until(() => removedKeys(before).length === 1, 'it is put away');
  await before.stop();
  suspectAll(world);
  const after = await world.start();
  await world.until(() => removedKeys(after).length === 1, 'it is put away once more');
  await after.stop();
});

/** A world that deletes, in which `a.md` was sent and then suspected, and its daemon of now. */
async function deletingWorld(): Promise<{ readonly world: DaemonWorld; readonly running: RunningDaemon }> {
  const world = await createDaemonWorld({
    platform: { operations: 'auto' },
    removals: { mode: 'delete', delay: '1s', maxFraction: 1 },
  });
  world.write('docs/a.md', 'one');
  world.write('docs/b.md', 'two');
  const before = await world.start();
  await before.stop();
  suspectAll(world);
  return { world, running: await world.start() };
}

/** What another host sent of `a.md` before it ended arrives. */
async function arriveLate(world: DaemonWorld): Promise<void> {
  const content = 'from before';
  const sha256 = createHash('sha256').update(content).digest();
  await putAs(world, 'a.md', content, { metadata: { [MARK_NAME]: markOf(sha256, 'docs') } });
}

test('what arrives after its file was deleted is deleted as well', async () => {
  const { world, running } = await deletingWorld();
  world.remove('docs/a.md');
  await world.until(() => removedKeys(running).length === 1, 'it is deleted');
  expect(world.keys()).toEqual(['b.md']);
  await arriveLate(world);
  await world.until(() => removedKeys(running).length === 2, 'it is deleted again');
  expect(world.keys()).toEqual(['b.md']);
  await world.wait(10 * MINUTE, MINUTE);
  expect(removedKeys(running)).toEqual(['a.md', 'a.md']);
  expect(suspects(world)).toEqual([]);
  expect(world.sql('SELECT key FROM file ORDER BY key')).toEqual([{ key: 'b.md' }]);
});

test('a file in whose place something arrived late is deleted, as nobody else replaced it', async () => {
  const { world, running } = await deletingWorld();
  await arriveLate(world);
  world.remove('docs/a.md');
  await world.until(() => removedKeys(running).length === 1, 'it is deleted');
  expect(world.keys()).toEqual(['b.md']);
});

test('a file that is back before something can have arrived late is sent, and once more', async () => {
  const { world, running } = await deletingWorld();
  world.remove('docs/a.md');
  await world.until(() => removedKeys(running).length === 1, 'it is deleted');
  world.write('docs/a.md', 'again');
  await world.until(() => world.remote('a.md') === 'again', 'it is back');
  await arriveLate(world);
  await world.until(() => world.remote('a.md') === 'again', 'it is sent once more');
  expect(removedKeys(running)).toEqual(['a.md']);
});
