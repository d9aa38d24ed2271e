import { unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  createDaemonWorld,
  plant,
  removedKeys,
  requestsFor,
  sentPaths,
  type DaemonWorld,
  type RunningDaemon,
} from '../daemon-world.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** No rescan comes to the rescue. */
const WATCHED_ONLY = { watch: { rescan: '24d' } };

/** A world whose platform serves all operations. */
async function createWorld(fields: Record<string, unknown> = {}): Promise<DaemonWorld> {
  const world = await createDaemonWorld();
  configure(world, fields);
  return world;
}

function configure(world: DaemonWorld, fields: Record<string, unknown>): void {
  const { baseUrl } = world.emulator;
  world.configure({ ...WATCHED_ONLY, platform: { botId: 'bot-1', baseUrl, operations: 'auto' }, ...fields });
}

/** Requests so far that change something on the platform. */
const changes = ({ emulator }: DaemonWorld): number =>
  ['upsert', 'upload', 'update-file', 'delete-file'].reduce(
    (sum, operation) => sum + (emulator.counts.get(operation) ?? 0),
    0,
  );

const waiting = (world: DaemonWorld): [number | undefined, number | undefined] => {
  const [docs] = world.status().sources;
  return [docs?.pending, docs?.toRemove];
};

/** What was said of pauses. */
const toldOf = ({ told }: RunningDaemon): string[] =>
  told.filter((line) => line.includes('pause')).map((line) => line.split(/[:,]/u)[0] ?? '');

test('what is edited, added and deleted in a pause is collected, and sent once it ends', async () => {
  const world = await createWorld({ removals: { mode: 'delete', delay: '1s' } });
  plant(world, 3);
  const running = await world.start();
  const before = changes(world);
  expect(running.daemon.pause(null)).toMatchObject({ until: null, expires: null });
  world.write('docs/f0.md', 'edited');
  world.write('docs/new.md', 'new');
  unlinkSync(join(world.directory, 'docs/f1.md'));
  await world.until(() => String(waiting(world)) === '2,1', 'all of it is collected');
  running.daemon.rescan(null, null);
  await world.until(() => running.passes.length === 2, 'a pass that somebody asked for');
  await world.wait(MINUTE);
  expect(changes(world)).toBe(before);
  expect(waiting(world)).toEqual([2, 1]);
  expect(running.passes[1]?.summary).toMatchObject({ uploaded: 0, removed: 0, failed: 0 });
  expect(running.daemon.resume()).toBe(true);
  await world.until(() => removedKeys(running).length > 0, 'what was held back is done');
  expect(sentPaths(running).slice(3).sort()).toEqual(['f0.md', 'new.md']);
  expect(world.keys()).toEqual(['f0.md', 'f2.md', 'new.md']);
  await world.until(() => String(waiting(world)) === '0,0', 'nothing waits');
  expect(running.daemon.resume()).toBe(false);
  expect(toldOf(running)).toEqual(['warn paused by a command', 'inform a command ended the pause']);
});

test('a pause for a time survives a restart, and ends by itself', async () => {
  const world = await createDaemonWorld(WATCHED_ONLY);
  plant(world, 1);
  const first = await world.start();
  const { until } = first.daemon.pause(world.clock.now() + HOUR);
  world.write('docs/f0.md', 'edited');
  await world.until(() => waiting(world)[0] === 1, 'the edit is collected');
  await first.stop();
  const before = changes(world);
  world.write('docs/new.md', 'new');
  const second = await world.start();
  expect(second.daemon.activity.pause).toMatchObject({ until });
  expect(second.passes[0]?.summary).toMatchObject({ pending: 2 });
  await world.clock.advance(Date.parse(until ?? '') - 5 * SECOND - world.clock.now());
  expect(changes(world)).toBe(before);
  await world.until(() => sentPaths(second).length === 2, 'the pause is over');
  expect(second.daemon.activity.pause).toBeNull();
  expect(world.status().pause).toBeNull();
  expect(toldOf(second)).toEqual([
    expect.stringMatching(/^warn paused until /u),
    'inform the time of the pause is over',
  ]);
});

test('a pause that ended while the service did not run holds nothing back', async () => {
  const world = await createDaemonWorld(WATCHED_ONLY);
  const first = await world.start();
  first.daemon.pause(world.clock.now() + MINUTE);
  await first.stop();
  plant(world, 1);
  await world.clock.advance(2 * MINUTE);
  expect(world.status().pause).toBeNull();
  expect(sentPaths(await world.start())).toEqual(['f0.md']);
});

test('a file whose entry the platform has already is completed, and one that was not begun is not', async () => {
  const world = await createDaemonWorld({ ...WATCHED_ONLY, upload: { concurrency: 1 } });
  const running = await world.start();
  world.emulator.faults.add({ operation: 'upload', kind: 'status', status: 500 });
  world.write('docs/a.md', 'begun');
  await world.until(() => running.retries.length === 1, 'its content failed');
  running.daemon.pause(null);
  world.write('docs/b.md', 'not begun');
  await world.until(() => sentPaths(running).includes('a.md'), 'it is tried again');
  await world.until(() => waiting(world)[0] === 1, 'the other waits');
  expect(world.remote('a.md')).toBe('begun');
  expect(world.keys()).toEqual(['a.md']);
});

test('renewals and changed settings wait as well, and who pauses learns what will expire', async () => {
  const world = await createWorld({
    rules: [{ match: 'f0.md', expiresIn: '2h', renewBefore: '30m' }],
  });
  plant(world, 2);
  const running = await world.start();
  const expiry = (): string | null => world.status().sources[0]?.nextExpiry ?? null;
  await world.until(() => running.daemon.unconfirmed === 0 && expiry() !== null, 'both are confirmed');
  const expires = expiry();
  const soon = world.clock.now() + HOUR;
  expect(running.daemon.pause(soon).expires).toBeNull();
  const { since } = running.daemon.pause(soon + 2 * HOUR);
  expect(running.daemon.pause(null)).toEqual({ since, until: null, expires });
  const before = changes(world);
  configure(world, { rules: [{ match: 'f1.md', tags: { kind: 'other' } }] });
  await running.reload();
  await world.until(() => running.passes.length === 2, 'a pass with the other rules');
  expect(changes(world)).toBe(before);
  running.daemon.resume();
  await world.until(() => running.passes.length === 3, 'the pass after it');
  expect(world.emulator.counts.get('update-file')).toBe(2);
  expect(requestsFor(world, 'upsert')).toBe(2);
});

test('a renewal that is due in a pause is made after it', async () => {
  const world = await createDaemonWorld({
    ...WATCHED_ONLY,
    rules: [{ match: '**', expiresIn: '2h', renewBefore: '30m' }],
  });
  plant(world, 1);
  const running = await world.start();
  const renewals = (): number => running.events.filter(({ kind }) => kind === 'renew').length;
  running.daemon.pause(null);
  await world.clock.advance(100 * MINUTE);
  await world.until(() => waiting(world)[0] === 1, 'it is due');
  await world.until(() => running.told.includes('overdue 1'), 'it is overdue');
  expect(renewals()).toBe(0);
  running.daemon.resume();
  await world.until(() => renewals() === 1, 'it is renewed');
});

test('in a pause an unreachable platform is not probed', async () => {
  const world = await createDaemonWorld(WATCHED_ONLY);
  const running = await world.start();
  world.emulator.faults.add({ operation: 'upsert', kind: 'drop', times: Infinity });
  world.write('docs/a.md', 'one');
  await world.until(() => running.daemon.activity.platformOutOfReach, 'an outage');
  await world.wait(2 * MINUTE);
  running.daemon.pause(null);
  // What waits to probe may still do so once.
  await world.wait(MINUTE);
  const before = requestsFor(world, 'upsert');
  await world.wait(30 * MINUTE, 10 * SECOND);
  expect(requestsFor(world, 'upsert')).toBe(before);
  world.emulator.faults.clear();
  running.daemon.resume();
  await world.until(() => world.remote('a.md') === 'one', 'it is sent');
});
