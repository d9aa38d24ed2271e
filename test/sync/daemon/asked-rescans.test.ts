import { expect, test } from 'vitest';
import { createDaemonWorld, plant, requestsFor, sentPaths, startDaemon } from '../daemon-world.ts';

/** Every failure is final until somebody or something tries again. */
const ONE_ATTEMPT = { upload: { attempts: 1 } };

const FAILURE = { operation: 'upload', key: 'a.md', kind: 'status', status: 403, times: 1 } as const;

test('somebody who wants everything looked at gets a pass, which tries again what failed', async () => {
  const world = await createDaemonWorld(ONE_ATTEMPT);
  world.write('docs/a.md', 'one');
  world.emulator.faults.add(FAILURE);
  const running = await world.start();
  expect(running.passes[0]?.summary.failed).toBe(1);
  expect(running.daemon.rescan(null, null)).toEqual({ kind: 'pass' });
  await world.until(() => running.passes.length === 2, 'the pass ends');
  expect(running.passes[1]).toMatchObject({ trigger: 'asked', summary: { uploaded: 1, failed: 0 } });
  expect(sentPaths(running)).toEqual(['a.md']);
});

test('somebody who wants one file tried again needs no pass', async () => {
  const world = await createDaemonWorld(ONE_ATTEMPT);
  world.write('docs/a.md', 'one');
  world.emulator.faults.add(FAILURE);
  const running = await world.start();
  expect(running.daemon.rescan('docs', 'a.md')).toEqual({ kind: 'path', waitsFor: null });
  await world.until(() => sentPaths(running).length === 1, 'the file is sent');
  expect(world.remote('a.md')).toBe('one');
  expect(running.passes).toHaveLength(1);
});

test('a pass that somebody wants tries again what the platform refused, before its time', async () => {
  const world = await createDaemonWorld();
  plant(world, 1);
  const running = world.launch('wrong');
  await world.until(() => running.passes.length === 1, 'the first pass ends');
  const before = requestsFor(world, 'upsert');
  expect(running.daemon.rescan('docs', 'f0.md')).toMatchObject({
    kind: 'path',
    waitsFor: expect.stringMatching(/401/u) as string,
  });
  running.daemon.rescan('docs', null);
  await world.until(() => running.passes.length === 2, 'the next pass ends');
  expect(running.passes[1]?.trigger).toBe('asked');
  expect(requestsFor(world, 'upsert')).toBeGreaterThan(before);
});

test.each(['../outside.md', '/etc/passwd', 'a/../../b', './a.md', 'a//b', 'a\0b', ''])(
  'nothing comes of %j, which is no path within a source',
  async (path) => {
    const world = await createDaemonWorld();
    world.write('outside.md', 'secret');
    const running = await world.start();
    expect(running.daemon.rescan('docs', path)).toEqual({ kind: 'outside' });
    expect(running.daemon.activity.queued).toBe(0);
  },
);

test('nothing comes of it for a source that is not there, is halted, or ignores the file', async () => {
  const { world, running } = await startDaemon(1);
  expect(running.daemon.rescan('nowhere', 'a.md')).toEqual({ kind: 'unknown-source' });
  expect(running.daemon.rescan('docs', 'a.tmp')).toEqual({ kind: 'ignored' });
  world.move('docs', 'away');
  await world.until(() => running.daemon.impediments.length > 0, 'the source is halted');
  expect(running.daemon.rescan('docs', 'f0.md')).toMatchObject({
    kind: 'halted',
    halt: { kind: 'missing' },
  });
});
