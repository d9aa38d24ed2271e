import { copyFileSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Lease, momentOf } from '../../../src/domain/lease.ts';
import { compareRecords } from '../../../src/run/cluster/unit-holding.ts';
import type { Log } from '../../../src/service/logger.ts';
import { openState } from '../../../src/store/open.ts';
import { connectTo, createWorld } from '../../sync/world.ts';

type World = Awaited<ReturnType<typeof createWorld>>;

/** Compares what is on record with the platform, and says how that went. `isInDoubt`: see `WorkedUnit`. */
async function compare(world: World, isInDoubt = true): Promise<{ log: string[]; compared: number }> {
  const { clock, emulator } = world;
  const config = world.config();
  const opened = openState(config.stateFile, { checkThoroughly: false, nowMs: clock.now() });
  if (opened.kind !== 'open') throw new Error(opened.kind);
  const outcome = { log: [] as string[], compared: 0 };
  const note = (message: string): void => {
    outcome.log.push(message);
  };
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const connection = connectTo(emulator, config, clock);
  const never = new AbortController().signal;
  try {
    await compareRecords(
      {
        ...{ name: 'docs', state: opened.store, isInDoubt, stop: never, abort: never },
        lease: new Lease(10_000, clock, momentOf(clock)),
        compared: () => {
          outcome.compared += 1;
          return Promise.resolve();
        },
      },
      {
        config,
        platformName: config.platform.baseUrl,
        catalog: connection.catalog,
        platformNow: clock.now,
        clock,
        log,
      },
    );
  } finally {
    opened.store.close();
    await connection.close();
  }
  return outcome;
}

/** Puts the records back as they were when a copy was made of them. */
function goBack(world: World, copy: string): void {
  const { stateFile } = world.config();
  for (const companion of ['', '-wal', '-shm']) rmSync(stateFile + companion, { force: true });
  copyFileSync(copy, stateFile);
}

/** Makes a world whose records are those of before its latest changes, of which the platform has all. */
async function createForgetful(more: Record<string, unknown> = {}): Promise<World> {
  const world = await createWorld({
    platform: { operations: 'auto' },
    removals: { mode: 'delete', delay: '1ms', maxCount: 100 },
  });
  world.configure(more);
  for (const name of ['same', 'changed', 'changed-gone', 'gone', 'back'])
    world.write(`docs/${name}.md`, name);
  await world.pass();
  const { stateFile } = world.config();
  copyFileSync(stateFile, `${stateFile}.old`);
  for (const name of ['changed', 'changed-gone', 'new', 'new-gone'])
    world.write(`docs/${name}.md`, `${name} 2`);
  world.remove('docs/gone.md');
  world.remove('docs/back.md');
  world.clock.advance(60_000);
  await world.pass({ allowRemovals: true });
  goBack(world, `${stateFile}.old`);
  world.remove('docs/changed-gone.md');
  world.remove('docs/new-gone.md');
  world.write('docs/back.md', 'back');
  world.clock.advance(60_000);
  return world;
}

const LEFT = { 'back.md': 'back', 'changed.md': 'changed 2', 'new.md': 'new 2', 'same.md': 'same' };

/** What the platform has, by key. */
function filesOf(world: World): Record<string, string | null> {
  return Object.fromEntries(
    world
      .keys()
      .sort()
      .map((key) => [key, world.remote(key)]),
  );
}

test('after a comparison the platform is as the directory, by one upload at most of what was lost', async () => {
  const world = await createForgetful();
  expect(Object.keys(filesOf(world))).toEqual([
    ...['changed-gone.md', 'changed.md', 'new-gone.md', 'new.md', 'same.md'],
  ]);
  const { log, compared } = await compare(world);
  expect(log).toEqual([
    'the database went back in time: the records of docs are compared with the platform first',
  ]);
  expect(compared).toBe(1);
  const { summary } = await world.pass({ allowRemovals: true });
  expect(filesOf(world)).toEqual(LEFT);
  expect(summary).toMatchObject({ uploaded: 2, adopted: 1 });
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 0, adopted: 0 } });
});

test('what was removed by the records, and sent and deleted since, is removed again', async () => {
  const world = await createWorld({
    platform: { operations: 'auto' },
    removals: { mode: 'expire', delay: '1ms', maxCount: 100 },
  });
  world.write('docs/a.md', 'a');
  world.write('docs/stays.md', 'stays');
  await world.pass();
  world.remove('docs/a.md');
  await world.pass({ allowRemovals: true });
  const { stateFile } = world.config();
  copyFileSync(stateFile, `${stateFile}.old`);
  world.write('docs/a.md', 'a 2');
  await world.pass();
  expect(world.remote('a.md')).toBe('a 2');
  goBack(world, `${stateFile}.old`);
  world.remove('docs/a.md');
  await compare(world);
  world.clock.advance(60_000);
  const { summary } = await world.pass({ allowRemovals: true });
  expect(summary).toMatchObject({ uploaded: 0, removed: 1 });
  expect(world.remote('a.md')).not.toBe('a 2');
  expect(world.remote('stays.md')).toBe('stays');
});

test('where the platform serves no list, all is sent again', async () => {
  const world = await createForgetful();
  world.configure({
    platform: { operations: 'specified' },
    removals: { mode: 'expire', maxCount: 100 },
  });
  expect((await compare(world)).compared).toBe(1);
  const { summary } = await world.pass({ allowRemovals: true });
  expect(summary.uploaded).toBe(4);
  for (const [key, content] of Object.entries(LEFT)) expect(world.remote(key)).toBe(content);
});

test('nothing is done before the platform answers, and it is asked until it does', async () => {
  const world = await createForgetful();
  world.fail('list-files', 401, { times: 2 });
  const { log, compared } = await compare(world);
  expect(log.filter((line) => line.includes('cannot be compared with the platform yet'))).toHaveLength(1);
  expect(compared).toBe(1);
  await world.pass({ allowRemovals: true });
  expect(filesOf(world)).toEqual(LEFT);
});

test('records that are not in doubt are not compared', async () => {
  const world = await createForgetful();
  const { counts } = world.emulator;
  const before = counts.get('list-files');
  expect(await compare(world, false)).toEqual({ log: [], compared: 0 });
  expect(counts.get('list-files')).toBe(before);
});
