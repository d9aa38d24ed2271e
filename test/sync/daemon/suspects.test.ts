import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { createDaemonWorld, removedKeys, requestsFor, type DaemonWorld } from '../daemon-world.ts';

const MINUTE = 60_000;

/** What a host sent before it ended may arrive for a minute from now, of every file on record and of one of which nothing is. */
function suspectAll(world: DaemonWorld): void {
  const state = new DatabaseSync(world.config().stateFile);
  state
    .prepare('INSERT INTO suspect (target, key, again_at) SELECT target, key, ? FROM file')
    .run(world.clock.now() + MINUTE);
  state
    .prepare("INSERT INTO suspect (target, key, again_at) SELECT id, 'forgotten', ? FROM target")
    .run(world.clock.now() + MINUTE);
  state.close();
}

function suspects(world: DaemonWorld): unknown[] {
  const state = new DatabaseSync(world.config().stateFile);
  const keys = state.prepare('SELECT key FROM suspect').all();
  state.close();
  return keys;
}

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
  rmSync(join(world.directory, 'docs/a.md'));
  await world.until(() => removedKeys(before).length === 1, 'it is put away');
  await before.stop();
  suspectAll(world);
  const after = await world.start();
  await world.until(() => removedKeys(after).length === 1, 'it is put away once more');
  await after.stop();
});
