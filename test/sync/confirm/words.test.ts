import { describe, expect, test } from 'vitest';
import { eventually } from '../../files/watch-fixture.ts';
import { getAs } from '../others.ts';
import { plant, requestsFor, sentPaths } from '../daemon-world.ts';
import {
  asked,
  confirmed,
  createAskedWorld,
  lastWord,
  rowOf,
  set,
  untilStatus,
  HOUR,
  MINUTE,
  SECOND,
} from './world.ts';

describe('the platform is asked until it has said what became of a file', () => {
  test('a file that is searchable at once, and one that is only stored', async () => {
    const world = await createAskedWorld();
    world.write('docs/a.md', 'one');
    world.write('docs/b.bin', 'two');
    const running = await world.start();
    expect(running.passes[0]?.summary).toMatchObject({ uploaded: 2, unconfirmed: 2 });
    await untilStatus(world, { files: 0, unconfirmed: 2 });
    await world.until(() => confirmed(running).length === 2, 'both are confirmed');
    expect(confirmed(running).sort()).toEqual(['a.md searchable', 'b.bin stored']);
    expect(lastWord(running, 'a.md')).toEqual({
      kind: 'confirm',
      source: 'docs',
      path: 'a.md',
      key: 'a.md',
      reason: 'indexing_completed',
      outcome: 'searchable',
    });
    await untilStatus(world, { files: 2, searchable: 1, stored: 1, unconfirmed: 0 });
    expect(asked(world)).toBe(1);
    await world.wait(HOUR, MINUTE);
    expect(asked(world)).toBe(1);
  });

  test('is first asked a second after the last byte, and known within two seconds of being so', async () => {
    const world = await createAskedWorld({}, { indexingDelayMs: 10 * SECOND });
    world.write('docs/a.md', 'one');
    const running = await world.start();
    await untilStatus(world, { unconfirmed: 1 });
    const sentAtMs = Number(rowOf(world, 'a.md')['sent_at']);
    await world.until(() => asked(world) === 1, 'it is asked');
    expect(world.clock.now() - sentAtMs).toBeGreaterThanOrEqual(SECOND);
    await world.until(() => confirmed(running).length === 1, 'it is confirmed');
    const knownAfterMs = world.clock.now() - sentAtMs - 10 * SECOND;
    expect(knownAfterMs).toBeLessThan(5 * SECOND);
    expect(asked(world)).toBeLessThan(8);
  });

  test('in full batches of fifty', async () => {
    const world = await createAskedWorld();
    plant(world, 230);
    const running = world.launch();
    // Time stands still until all are sent: none is old enough to be asked about before there are fifty.
    await eventually(() => sentPaths(running).length === 230, 'all are sent');
    expect(asked(world)).toBe(0);
    await world.until(() => confirmed(running).length === 230, 'all are confirmed');
    expect(asked(world)).toBe(5);
  });

  test('one question at a time', async () => {
    const world = await createAskedWorld();
    plant(world, 120);
    world.emulator.faults.add({ operation: 'list-files', kind: 'hang' });
    const running = await world.start();
    await world.until(() => asked(world) === 1, 'it is asked');
    await world.wait(10 * SECOND);
    expect(asked(world)).toBe(1);
    world.emulator.faults.clear();
    await world.until(() => confirmed(running).length === 120, 'all are confirmed');
  });

  test('goes on after a restart, and under other settings', async () => {
    const world = await createAskedWorld({}, { indexingDelayMs: 10 * MINUTE });
    world.write('docs/a.md', 'one');
    await (await world.start()).stop();
    const second = await world.start();
    expect(second.passes[0]?.summary).toMatchObject({ uploaded: 0, unconfirmed: 1 });
    await second.reload();
    await world.wait(9 * MINUTE, 20 * SECOND);
    await world.until(() => confirmed(second).length === 1, 'it is confirmed');
    expect(requestsFor(world, 'upsert')).toBe(1);
  });

  test('statuses that are not known, or go back, are asked about again', async () => {
    const world = await createAskedWorld({}, { indexingProgressMs: 20 * SECOND });
    world.write('docs/a.md', 'one');
    const running = await world.start();
    await world.wait(10 * SECOND);
    expect(asked(world)).toBeGreaterThan(1);
    await set(world, { kind: 'pending-again' });
    await world.wait(MINUTE);
    expect(confirmed(running)).toEqual([]);
    await world.emulator.conditions.clear();
    await world.until(() => confirmed(running).length === 1, 'it is confirmed');
    expect(confirmed(running)).toEqual(['a.md searchable']);
  });

  test('after a day without an end the file is a problem, until there is one', async () => {
    const world = await createAskedWorld(
      { watch: { rescan: '2h' } },
      { indexingDelayMs: 36 * HOUR },
      2 * MINUTE,
    );
    world.write('docs/a.md', 'one');
    const running = await world.start();
    await untilStatus(world, { unconfirmed: 1 });
    const sentAtMs = Number(rowOf(world, 'a.md')['sent_at']);
    await world.wait(23.5 * HOUR, 5 * MINUTE);
    expect(running.passes.at(-1)).toMatchObject({ exitCode: 0, summary: { unconfirmed: 1, problems: 0 } });
    const isProblem = (): boolean => running.passes.at(-1)?.exitCode === 3;
    await world.until(isProblem, 'it is a problem', MINUTE);
    expect(world.clock.now() - sentAtMs).toBeGreaterThanOrEqual(24 * HOUR);
    expect(running.passes.at(-1)).toMatchObject({ summary: { unconfirmed: 1, problems: 1 } });
    const { source, path, reason } = running.events.filter(({ kind }) => kind === 'problem').at(-1) ?? {};
    expect({ source, path }).toEqual({ source: 'docs', path: 'a.md' });
    expect(reason).toContain('indexing_pending');
    await eventually(() => world.status().failures.length === 1, 'the state file on disk says so');
    expect(world.status().failures).toMatchObject([{ path: 'a.md', kind: 'problem' }]);
    await world.until(() => confirmed(running).length === 1, 'it is confirmed', 5 * MINUTE);
    expect(confirmed(running)).toEqual(['a.md searchable']);
    await untilStatus(world, { searchable: 1 });
    expect(world.status().failures).toEqual([]);
    await world.until(() => !isProblem(), 'it is a problem no more', MINUTE);
    expect(running.passes.at(-1)?.exitCode).toBe(0);
  });
});

test('how many files wait is counted again only when the daemon has written something', async () => {
  const world = await createAskedWorld({}, { indexingDelayMs: 20 * HOUR });
  world.write('docs/a.md', 'one');
  const running = await world.start();
  await untilStatus(world, { unconfirmed: 1 });
  expect(running.daemon.unconfirmed).toBe(1);
  // No other program writes to a state file that is in use: only so it shows whether it is read.
  world.sql("UPDATE file SET verdict = 'searchable'");
  expect(running.daemon.unconfirmed).toBe(1);
  plant(world, 2);
  await world.until(() => sentPaths(running).length === 3, 'more are sent');
  expect(running.daemon.unconfirmed).toBe(2);
});

describe('a file that cannot be indexed', () => {
  const failing = { kind: 'failing-indexing', keys: '*.md', reason: 'Nothing in it' } as const;

  test('is a failure, and is not sent again until it changes', async () => {
    const world = await createAskedWorld();
    await set(world, failing);
    world.write('docs/a.md', 'one');
    const running = await world.start();
    await world.until(() => confirmed(running).length === 1, 'it has failed');
    expect(lastWord(running, 'a.md')).toMatchObject({
      outcome: 'failed',
      reason: 'indexing_failed',
      error: 'could not be indexed: Nothing in it',
    });
    await untilStatus(world, { files: 0, unsearchable: 1, failed: 0 });
    expect(world.status()).toMatchObject({
      failures: [{ path: 'a.md', kind: 'unsearchable', reason: 'could not be indexed: Nothing in it' }],
    });
    const before = running.passes.length;
    await world.until(() => running.passes.length > before, 'a rescan', 10 * SECOND);
    const last = running.passes.at(-1);
    expect(last).toMatchObject({ trigger: 'rescan', exitCode: 3, summary: { failed: 1, unchanged: 0 } });
    expect(requestsFor(world, 'upsert')).toBe(1);
    await world.emulator.conditions.clear();
    world.write('docs/a.md', 'another');
    await world.until(() => lastWord(running, 'a.md')?.outcome === 'searchable', 'it is searchable');
    await untilStatus(world, { files: 1, unsearchable: 0 });
    expect(world.status().failures).toEqual([]);
  });

  test('is held by a single pass as well, and sent with --force', async () => {
    const world = await createAskedWorld();
    await set(world, failing);
    world.write('docs/a.md', 'one');
    const running = await world.start();
    await world.until(() => confirmed(running).length === 1, 'it has failed');
    await running.stop();
    const held = await world.pass();
    expect(held).toMatchObject({ exitCode: 3, requests: 0, summary: { failed: 1 } });
    expect(held.events).toEqual([
      {
        kind: 'confirm',
        source: 'docs',
        path: 'a.md',
        key: 'a.md',
        reason: 'could not be indexed: Nothing in it',
        outcome: 'failed',
        error: 'could not be indexed: Nothing in it',
      },
    ]);
    const planned = await world.plan();
    expect(planned).toMatchObject({ exitCode: 3, summary: { failed: 1 } });
    expect(planned.events).toMatchObject([{ kind: 'confirm', path: 'a.md' }]);
    expect(planned.events[0]).not.toHaveProperty('outcome');
    // Written just now: its content is compared first.
    world.write('docs/a.md', 'one');
    expect(await world.plan()).toMatchObject({ exitCode: 3, summary: { failed: 1, unchanged: 0 } });
    expect(await world.pass()).toMatchObject({ exitCode: 3, summary: { failed: 1, unchanged: 0 } });
    expect((await world.pass({ isForced: () => true })).summary).toMatchObject({ uploaded: 1, failed: 0 });
  });
});

describe('where it cannot be asked', () => {
  test('what is not served is told once, and what was sent counts as before', async () => {
    const world = await createAskedWorld({}, { operations: 'specified' });
    plant(world, 3);
    const running = await world.start();
    await world.wait(HOUR, 30 * SECOND);
    expect(running.told.filter((line) => line.includes('"list" is not served'))).toHaveLength(1);
    expect(world.emulator.requests.filter(({ method }) => method === 'GET')).toHaveLength(1);
    expect(world.status().sources[0]).toMatchObject({ files: 3, stored: 0, searchable: 0, unconfirmed: 0 });
    expect(running.passes.at(-1)?.exitCode).toBe(0);
    expect(sentPaths(running)).toHaveLength(3);
  });

  test.each([
    [401, 'is asked again', 0],
    [403, 'means that this token may not', 1],
  ])('a %i %s, and no credentials are refused', async (status, _what, lines) => {
    const world = await createAskedWorld();
    world.fail('list-files', status, { times: Infinity });
    plant(world, 2);
    const running = await world.start();
    await world.wait(MINUTE);
    expect(running.daemon.refusal).toBeNull();
    expect(running.told).toHaveLength(lines);
    expect(running.told.filter((line) => line.includes('platform.token may not do this'))).toHaveLength(
      lines,
    );
    // With growing delays.
    expect(asked(world)).toBeLessThanOrEqual(10);
    expect(asked(world) > 1).toBe(status === 401);
    world.write('docs/more.md', 'more');
    await world.until(() => sentPaths(running).length === 3, 'files are sent all the same');
    world.emulator.faults.clear();
    if (status === 401) await world.until(() => confirmed(running).length === 3, 'they are confirmed then');
  });

  test('failures pass, and nothing counts against the file', async () => {
    const world = await createAskedWorld();
    for (const status of [500, 429, 408]) world.fail('list-files', status, { times: 2 });
    world.emulator.faults.add({ operation: 'list-files', kind: 'garbage' });
    world.emulator.faults.add({ operation: 'list-files', kind: 'drop' });
    world.write('docs/a.md', 'one');
    const running = await world.start();
    await world.until(() => confirmed(running).length === 1, 'it is confirmed');
    expect(confirmed(running)).toEqual(['a.md searchable']);
    expect(sentPaths(running)).toEqual(['a.md']);
    expect(running.daemon.activity.platformOutOfReach).toBe(false);
  });

  test('a list by ids that is refused is made up for file by file', async () => {
    const world = await createAskedWorld();
    world.fail('list-files', 400, { times: Infinity });
    plant(world, 3);
    const running = await world.start();
    await world.until(() => confirmed(running).length === 3, 'all are confirmed');
    expect(asked(world, 'get-file')).toBe(3);
  });
});

describe('what is asked while the file is sent anew', () => {
  test('an answer about what was sent before counts for nothing', async () => {
    const world = await createAskedWorld();
    await set(world, { kind: 'failing-indexing', keys: 'a.md', reason: 'Nothing in it' });
    world.write('docs/a.md', 'one');
    const running = await world.start();
    const { id } = await getAs(world, 'a.md');
    // It hangs after the answer was made: of what was there then.
    world.emulator.faults.add({ operation: 'list-files', kind: 'hang-mid-body' });
    await world.until(() => asked(world) === 1, 'it is asked');
    await world.emulator.conditions.clear();
    world.write('docs/a.md', 'two');
    await world.until(() => sentPaths(running).length === 2, 'it is sent again');
    await untilStatus(world, { unconfirmed: 1 });
    expect(rowOf(world, 'a.md')['remote_id']).toBe(id);
    world.emulator.faults.clear();
    await world.until(() => confirmed(running).length === 1, 'it is confirmed');
    await world.wait(10 * SECOND);
    expect(confirmed(running)).toEqual(['a.md searchable']);
  });
});
