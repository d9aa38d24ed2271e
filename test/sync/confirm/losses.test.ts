import { describe, expect, test } from 'vitest';
import { deleteAs } from '../others.ts';
import { requestsFor, sentPaths, type DaemonWorld, type RunningDaemon } from '../daemon-world.ts';
import {
  asked,
  confirmed,
  createAskedWorld,
  lastWord,
  set,
  untilStatus,
  HOUR,
  MINUTE,
  SECOND,
} from './world.ts';

/** A rescan comes too late to matter. */
const NO_RESCAN = { watch: { rescan: '23d' } };

describe('content that the platform refuses after its store took it', () => {
  const failing = { kind: 'failing-uploads', keys: 'a.md', reason: 'Checksum mismatch' } as const;

  test('is sent again, ever later, as often as upload.attempts says', async () => {
    const world = await createAskedWorld({ ...NO_RESCAN, upload: { attempts: 4 } });
    await set(world, failing);
    world.write('docs/a.md', 'one');
    const running = await world.start();
    const sentAtMs: number[] = [];
    for (let count = 1; count <= 4; count++) {
      await world.until(() => sentPaths(running).length === count, `it is sent ${count} times`);
      sentAtMs.push(world.clock.now());
    }
    const gapsMs = sentAtMs.slice(1).map((atMs, index) => atMs - (sentAtMs[index] ?? 0));
    expect(gapsMs[0]).toBeGreaterThan(5 * SECOND);
    expect(gapsMs[1]).toBeGreaterThan(10 * SECOND);
    expect(gapsMs[2]).toBeGreaterThan(20 * SECOND);
    await world.wait(HOUR, 10 * SECOND);
    expect(requestsFor(world, 'upsert')).toBe(4);
    expect(lastWord(running, 'a.md')).toMatchObject({ outcome: 'failed', reason: 'upload_failed' });
    await untilStatus(world, { failed: 1, files: 0 });
    expect(world.status().failures[0]?.reason).toContain('Checksum mismatch');
  });

  test('arrives when the platform takes it again', async () => {
    const world = await createAskedWorld(NO_RESCAN);
    await set(world, failing);
    world.write('docs/a.md', 'one');
    const running = await world.start();
    await world.until(() => confirmed(running).length === 1, 'it is lost');
    await world.emulator.conditions.clear();
    await world.until(() => confirmed(running).length === 2, 'it is there');
    expect(confirmed(running)).toEqual(['a.md failed', 'a.md searchable']);
    expect(world.remote('a.md')).toBe('one');
  });

  test('is sent again by the next start, where that comes first', async () => {
    const world = await createAskedWorld(NO_RESCAN);
    await set(world, failing);
    world.write('docs/a.md', 'one');
    const first = await world.start();
    await world.until(() => confirmed(first).length === 1, 'it is lost');
    await first.stop();
    await world.emulator.conditions.clear();
    const second = await world.start();
    await world.until(() => confirmed(second).length === 1, 'it is there');
    expect(second.events.find(({ kind }) => kind === 'upload')?.reason).toBe('failed-before');
  });

  test('for a quota: what needs room waits, and is tried again as ever', async () => {
    const world = await createAskedWorld(NO_RESCAN, { quotas: { fileStorageBytes: 5 } });
    await set(world, { kind: 'late-limits' });
    world.write('docs/a.md', 'more than five');
    const running = await world.start();
    await world.until(() => confirmed(running).length === 1, 'it is refused');
    await world.until(() => running.told.includes('refused quota now'), 'the quota is told');
    await untilStatus(world, { failed: 1, refused: 0 });
    expect(sentPaths(running)).toEqual(['a.md']);
    world.write('docs/b.md', 'bb');
    await world.wait(30 * SECOND);
    expect(sentPaths(running)).toEqual(['a.md']);
    await world.wait(2 * MINUTE);
    expect(sentPaths(running)).toContain('b.md');
  });

  test('for its size: it is refused until it changes', async () => {
    const world = await createAskedWorld({}, { limits: { fileBytes: 5 } });
    await set(world, { kind: 'late-limits' });
    world.write('docs/a.bin', 'more than five');
    const running = await world.start();
    await world.until(() => confirmed(running).length === 1, 'it is refused');
    await untilStatus(world, { failed: 0, refused: 1 });
    await world.wait(HOUR, 10 * SECOND);
    expect(sentPaths(running)).toEqual(['a.bin']);
    expect(running.passes.at(-1)).toMatchObject({ exitCode: 3, summary: { refused: 1 } });
    world.write('docs/a.bin', 'five');
    await world.until(() => lastWord(running, 'a.bin')?.outcome === 'stored', 'it is there');
  });

  test('that is never seen is sent once more after ten minutes, and then has failed', async () => {
    const world = await createAskedWorld(NO_RESCAN);
    await set(world, { kind: 'slow-notice', delayMs: Infinity });
    world.write('docs/a.md', 'one');
    const running = await world.start();
    await world.wait(9 * MINUTE, 5 * SECOND);
    expect(confirmed(running)).toEqual([]);
    await world.wait(10 * MINUTE, 5 * SECOND);
    expect(sentPaths(running)).toEqual(['a.md', 'a.md']);
    await world.wait(HOUR, 10 * SECOND);
    expect(sentPaths(running)).toEqual(['a.md', 'a.md']);
    expect(confirmed(running)).toEqual(['a.md failed', 'a.md failed']);
    await untilStatus(world, { failed: 1 });
  });
});

describe('a file that is gone', () => {
  test('is asked for by itself after a minute, and sent again', async () => {
    const { world, running } = await sent({ indexingDelayMs: 10 * SECOND });
    await deleteAs(world, 'a.md');
    await world.wait(30 * SECOND);
    expect(asked(world, 'get-file')).toBe(0);
    await world.until(() => confirmed(running).length === 2, 'it is lost, and there again');
    expect(asked(world, 'get-file')).toBe(1);
    expect(confirmed(running)).toEqual(['a.md failed', 'a.md searchable']);
    expect(world.remote('a.md')).toBe('one');
  });

  test('because it was let expire is not missed', async () => {
    const world = await createAskedWorld({
      rules: [{ match: '*', expiresIn: '2m', renew: false, index: true }],
    });
    await set(world, { kind: 'slow-notice', delayMs: Infinity });
    world.write('docs/a.md', 'one');
    const running = await world.start();
    await world.wait(10 * MINUTE, 5 * SECOND);
    expect(confirmed(running)).toEqual([]);
    expect(sentPaths(running)).toEqual(['a.md']);
    const before = asked(world);
    await world.wait(HOUR, 30 * SECOND);
    expect(asked(world)).toBe(before);
  });

  test('may only be missing from a list that lags behind', async () => {
    const world = await createAskedWorld();
    await set(world, { kind: 'lagging-list', lagMs: 30 * SECOND });
    world.write('docs/a.md', 'one');
    const running = await world.start();
    await world.until(() => confirmed(running).length === 1, 'it is confirmed');
    expect(confirmed(running)).toEqual(['a.md searchable']);
    expect(asked(world, 'get-file')).toBe(0);
    expect(sentPaths(running)).toEqual(['a.md']);
  });

  test('or from one that never shows it, where only a question for it alone tells', async () => {
    const world = await createAskedWorld();
    await set(world, { kind: 'lagging-list', lagMs: Infinity });
    world.write('docs/a.md', 'one');
    const running = await world.start();
    await world.until(() => confirmed(running).length === 1, 'it is confirmed');
    expect(confirmed(running)).toEqual(['a.md searchable']);
    expect(asked(world, 'get-file')).toBe(1);
  });

  test('is waited for where single files cannot be asked for', async () => {
    const { world, running } = await sent({ indexingDelayMs: 10 * SECOND });
    world.fail('get-file', 405, { times: Infinity });
    await deleteAs(world, 'a.md');
    await world.wait(HOUR, 10 * SECOND);
    expect(confirmed(running)).toEqual([]);
    expect(asked(world, 'get-file')).toBe(1);
  });
});

test('a list that shows what was there before does not confirm what came in its place', async () => {
  const { world, running } = await sent({});
  await world.until(() => confirmed(running).length === 1, 'the first is confirmed');
  await set(world, { kind: 'lagging-list', lagMs: 5 * MINUTE });
  await set(world, { kind: 'failing-indexing', keys: 'a.md', reason: 'Nothing in it' });
  world.write('docs/a.md', 'two');
  await world.until(() => sentPaths(running).length === 2, 'it is sent again');
  await world.wait(4 * MINUTE);
  expect(confirmed(running)).toEqual(['a.md searchable']);
  await world.wait(4 * MINUTE);
  expect(confirmed(running)).toEqual(['a.md searchable', 'a.md failed']);
});

test('a file that has another id after each upsert is asked about by its new one', async () => {
  const { world, running } = await sent({ indexingDelayMs: 10 * SECOND });
  await set(world, { kind: 'new-ids' });
  world.write('docs/a.md', 'two');
  await world.until(() => sentPaths(running).length === 2, 'it is sent again');
  await world.until(() => confirmed(running).length === 1, 'it is confirmed');
  expect(asked(world, 'get-file')).toBe(0);
  expect(confirmed(running)).toEqual(['a.md searchable']);
});

async function sent(
  options: Parameters<typeof createAskedWorld>[1],
): Promise<{ readonly world: DaemonWorld; readonly running: RunningDaemon }> {
  const world = await createAskedWorld({}, options);
  world.write('docs/a.md', 'one');
  const running = await world.start();
  return { world, running };
}
