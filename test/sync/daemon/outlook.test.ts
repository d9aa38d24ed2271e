import { expect, test } from 'vitest';
import { withRetries, standingOf } from '../../../src/sync/plan/standing.ts';
import { type Failing, type Standing } from '../../../src/domain/status.ts';
import { createDaemonWorld, sentPaths, type DaemonWorld, type RunningDaemon } from '../daemon-world.ts';
import { refuseUpserts } from '../world.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** How a daemon stands. */
function standing(world: DaemonWorld, { daemon }: RunningDaemon): Standing & { readonly failure?: Failing } {
  const known = withRetries(world.status(), daemon.activity, { kind: 'running' });
  const [failure] = known.failures;
  return { ...standingOf(known, daemon.activity), ...(failure !== undefined && { failure }) };
}

test('a failed file is tried again when that was told, and not before', async () => {
  const world = await createDaemonWorld({ upload: { attempts: 1 } });
  const running = await world.start();
  expect(standing(world, running)).toMatchObject({ exitCode: 0, troubles: [] });
  world.fail('upload', 403, { key: 'a.md' });
  world.write('docs/a.md', 'one');
  await world.until(() => standing(world, running).failure?.kind === 'failed', 'it fails');
  const { failure, exitCode } = standing(world, running);
  expect(exitCode).toBe(3);
  expect(failure?.retry).toBe('pass');
  const atMs = Date.parse(failure?.retryAt ?? '');
  expect(atMs - world.clock.now()).toBeGreaterThan(10 * MINUTE);
  expect(atMs - world.clock.now()).toBeLessThan(17 * MINUTE);
  await world.wait(atMs - world.clock.now() - 5 * SECOND, 10 * SECOND);
  expect(sentPaths(running)).toEqual([]);
  await world.wait(10 * SECOND);
  await world.until(() => sentPaths(running).length === 1, 'it is sent');
  await world.until(() => standing(world, running).exitCode === 0, 'all is in sync');
});

test('what was done since the last pass is told', async () => {
  const world = await createDaemonWorld();
  const running = await world.start();
  await world.until(() => world.status().sinceLastPass?.last === null, 'the pass is on record');
  await world.wait(MINUTE, 10 * SECOND);
  world.write('docs/a.md', 'one');
  await world.until(() => sentPaths(running).length === 1, 'it is sent');
  await world.until(() => world.status().sinceLastPass?.sent === 1, 'that is on record');
  const { sinceLastPass, lastPass } = world.status();
  expect(sinceLastPass).toMatchObject({ sent: 1, sentBytes: 3, failed: 0, removed: 0 });
  expect(Date.parse(sinceLastPass?.last ?? '')).toBeGreaterThanOrEqual(
    Date.parse(lastPass?.finishedAt ?? '') + MINUTE,
  );
});

test('refused credentials are one trouble, with the time at which they are tried again', async () => {
  const world = await createDaemonWorld();
  refuseUpserts(world, 401);
  for (const name of ['a', 'b', 'c']) world.write(`docs/${name}.md`, name);
  const running = await world.start();
  await world.until(() => standing(world, running).failure?.kind === 'failed', 'that is on record');
  const { troubles, exitCode, failure } = standing(world, running);
  expect([exitCode, troubles.map(({ kind }) => kind)]).toEqual([4, ['credentials']]);
  const untilRetryMs = Date.parse(failure?.retryAt ?? '') - world.clock.now();
  expect(untilRetryMs).toBeGreaterThan(0);
  expect(untilRetryMs).toBeLessThan(2 * MINUTE);
  world.emulator.faults.clear();
  await world.wait(untilRetryMs + SECOND);
  await world.until(() => standing(world, running).exitCode === 0, 'all is in sync');
});

test('an outage is one trouble, however many files wait for its end', async () => {
  const world = await createDaemonWorld();
  const running = await world.start();
  refuseUpserts(world, 503);
  for (const name of ['a', 'b', 'c']) world.write(`docs/${name}.md`, name);
  await world.until(() => running.daemon.activity.outage !== null, 'it is noticed');
  await world.until(() => standing(world, running).failure?.kind === 'sending', 'a file stands by');
  expect(standing(world, running)).toMatchObject({ exitCode: 3, troubles: [{ kind: 'outage' }] });
  await world.wait(3 * MINUTE, SECOND);
  await world.until(() => standing(world, running).failure?.kind === 'failed', 'none stands by');
  const { troubles, exitCode, failure } = standing(world, running);
  expect([exitCode, troubles.map(({ kind }) => kind)]).toEqual([3, ['outage']]);
  expect(troubles).toMatchObject([{ waiting: 3 }]);
  expect(failure).toMatchObject({ retry: 'outage', retryAt: running.daemon.activity.outage?.nextTry });
});
