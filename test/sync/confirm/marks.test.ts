import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sentPaths, type DaemonWorld } from '../daemon-world.ts';
import { deleteAs, getAs, tellAs } from '../others.ts';
import { asked, confirmed, createAskedWorld, rowOf, set, HOUR, MINUTE, SECOND } from './world.ts';

/** Larger than what is read whole before its upsert. */
const LARGE = Buffer.alloc(300_000, 'large');
const SHA256 = createHash('sha256').update(LARGE).digest('hex');

async function markOf(world: DaemonWorld, key = 'a.bin'): Promise<unknown> {
  const { metadata } = await getAs(world, key);
  return (metadata as Record<string, unknown>)['botsync'];
}

test('an entry without our mark confirms nothing where one was sent', async () => {
  const world = await createAskedWorld({}, { indexingDelayMs: 10 * SECOND });
  world.write('docs/a.md', 'one');
  const running = await world.start();
  const { metadata } = await getAs(world, 'a.md');
  await tellAs(world, 'a.md', { metadata: { botsync: null } });
  await world.wait(10 * MINUTE, 5 * SECOND);
  expect(confirmed(running)).toEqual([]);
  await tellAs(world, 'a.md', { metadata: metadata });
  await world.until(() => confirmed(running).length === 1, 'it is confirmed');
  expect(confirmed(running)).toEqual(['a.md searchable']);
});

describe('the mark of large content', () => {
  test('is set once the platform has the content, with one change', async () => {
    const world = await createAskedWorld();
    world.write('docs/a.bin', LARGE);
    const running = await world.start();
    expect(await markOf(world)).toBeUndefined();
    await world.until(() => asked(world, 'update-file') === 1, 'it is marked');
    expect(confirmed(running)).toEqual(['a.bin stored']);
    expect(await markOf(world)).toEqual({ v: 1, sha256: SHA256, source: 'docs' });
    await world.wait(HOUR, MINUTE);
    expect(asked(world, 'update-file')).toBe(1);
    expect(rowOf(world, 'a.bin')).toMatchObject({ mark_due: 0, ask_at: null, verdict: 'stored' });
    expect(sentPaths(running)).toEqual(['a.bin']);
  });

  test('is set by the next run where the one that sent it came to its end before', async () => {
    const world = await createAskedWorld();
    world.write('docs/a.bin', LARGE);
    world.emulator.faults.add({ operation: 'update-file', kind: 'hang' });
    const first = await world.start();
    await world.until(() => asked(world, 'update-file') === 1, 'it is about to be marked');
    await first.stop();
    world.emulator.faults.clear();
    const second = await world.start();
    await world.until(() => asked(world, 'update-file') === 2, 'it is marked');
    await world.wait(5 * SECOND);
    expect(await markOf(world)).toMatchObject({ sha256: SHA256 });
    expect(confirmed(second)).toEqual([]);
  });

  test('waits for the end of a pause', async () => {
    const world = await createAskedWorld();
    world.write('docs/a.bin', LARGE);
    const running = await world.start();
    running.daemon.pause(null);
    await world.until(() => confirmed(running).length === 1, 'it is confirmed, which changes nothing');
    await world.wait(HOUR, MINUTE);
    expect(asked(world, 'update-file')).toBe(0);
    running.daemon.resume();
    await world.until(() => asked(world, 'update-file') === 1, 'it is marked');
    expect(sentPaths(running)).toEqual(['a.bin']);
  });

  test('failures of the platform are made up for, and so is a change that shows in no answer', async () => {
    const world = await createAskedWorld();
    world.fail('update-file', 503, { times: 2 });
    world.emulator.faults.add({ operation: 'update-file', kind: 'apply-then-drop' });
    world.write('docs/a.bin', LARGE);
    const running = await world.start();
    await world.until(() => asked(world, 'update-file') === 4, 'it is marked');
    await world.wait(MINUTE);
    expect(asked(world, 'update-file')).toBe(4);
    expect(running.daemon.activity.platformOutOfReach).toBe(false);
  });

  test('an answer without it does not count', async () => {
    const world = await createAskedWorld();
    world.write('docs/a.bin', LARGE);
    await world.start();
    const file = await getAs(world, 'a.bin');
    world.emulator.faults.add({ operation: 'update-file', kind: 'body', body: { file } });
    await world.until(() => asked(world, 'update-file') === 2, 'it is tried again');
    await world.wait(5 * SECOND);
    expect(await markOf(world)).toMatchObject({ sha256: SHA256 });
  });

  test.each([405, 403])('is given up where changes are not served (%i)', async (status) => {
    const world = await createAskedWorld();
    world.fail('update-file', status, { times: Infinity });
    world.write('docs/a.bin', LARGE);
    world.write('docs/b.bin', LARGE);
    const running = await world.start();
    await world.until(() => confirmed(running).length === 2, 'both are confirmed');
    await world.wait(HOUR, MINUTE);
    expect(asked(world, 'update-file')).toBe(1);
    expect(rowOf(world, 'b.bin')).toMatchObject({ mark_due: 0, ask_at: null, verdict: 'stored' });
  });

  test('is given up, and told, where it is refused', async () => {
    const world = await createAskedWorld();
    world.fail('update-file', 413, { times: Infinity });
    world.write('docs/a.bin', LARGE);
    const running = await world.start();
    await world.until(() => running.told.some((line) => line.includes('could not be marked')), 'it is told');
    await world.wait(HOUR, MINUTE);
    expect(asked(world, 'update-file')).toBe(1);
  });

  test('is not set without platform.mark, nor on what could not be indexed', async () => {
    const world = await createAskedWorld({ rules: [{ match: 'b.bin', index: true }] });
    world.write('docs/b.bin', LARGE);
    const running = await world.start();
    await world.until(() => confirmed(running).length === 1, 'it has failed');
    world.configure({ platform: { operations: 'auto', mark: false } });
    await running.reload();
    world.write('docs/a.bin', LARGE);
    await world.until(() => confirmed(running).includes('a.bin stored'), 'it is confirmed');
    await world.wait(MINUTE);
    expect(asked(world, 'update-file')).toBe(0);
  });

  test('a change that has the file indexed again is followed by another confirmation', async () => {
    const world = await createAskedWorld(
      { rules: [{ match: '*.txt', index: true }] },
      { indexingDelayMs: 20 * SECOND },
    );
    await set(world, { kind: 'updates-reindex' });
    world.write('docs/a.txt', LARGE);
    const running = await world.start();
    await world.until(() => asked(world, 'update-file') === 1, 'it is marked');
    await world.until(() => confirmed(running).length === 2, 'it is confirmed once more');
    expect(confirmed(running)).toEqual(['a.txt searchable', 'a.txt searchable']);
    await world.wait(10 * MINUTE, 5 * SECOND);
    expect(asked(world, 'update-file')).toBe(1);
  });

  test('a file that is gone when it is to be marked is lost, and sent again', async () => {
    const world = await createAskedWorld();
    world.fail('update-file', 503);
    world.write('docs/a.bin', LARGE);
    const running = await world.start();
    await world.until(() => asked(world, 'update-file') === 1, 'it is about to be marked');
    await deleteAs(world, 'a.bin');
    await world.until(() => sentPaths(running).length === 2, 'it is sent again');
    await world.until(() => confirmed(running).length === 3, 'it is confirmed');
    expect(confirmed(running)).toEqual(['a.bin stored', 'a.bin failed', 'a.bin stored']);
  });

  test('never goes out for a file that was sent anew while another was being marked', async () => {
    const world = await createAskedWorld();
    world.emulator.faults.add({ operation: 'update-file', kind: 'hang' });
    world.write('docs/a.bin', LARGE);
    world.write('docs/b.bin', LARGE);
    const running = await world.start();
    await world.until(() => asked(world, 'update-file') === 1, 'one is being marked');
    const struck = world.emulator.requests.findLast(({ operation }) => operation === 'update-file')?.key;
    const other = struck === 'a.bin' ? 'b.bin' : 'a.bin';
    const content = Buffer.alloc(300_000, 'other');
    world.write(`docs/${other}`, content);
    await world.until(() => sentPaths(running).length === 3, 'the other is sent anew');
    const marks: unknown[] = [];
    world.emulator.faults.clear();
    await world.until(async () => {
      const mark = await markOf(world, other);
      if (mark !== undefined) marks.push(mark);
      return mark !== undefined;
    }, 'it is marked');
    expect(marks[0]).toMatchObject({ sha256: createHash('sha256').update(content).digest('hex') });
    expect(asked(world, 'update-file')).toBe(2);
  });

  test('never goes out while the file is being sent anew', async () => {
    const world = await createAskedWorld();
    world.emulator.faults.add({ operation: 'list-files', kind: 'hang-mid-body' });
    world.write('docs/a.bin', LARGE);
    const running = await world.start();
    await world.until(() => asked(world) === 1, 'it is asked');
    world.emulator.faults.add({ operation: 'upload', kind: 'hang' });
    const other = Buffer.alloc(300_000, 'other');
    world.write('docs/a.bin', other);
    await world.until(() => (world.emulator.counts.get('upload') ?? 0) === 2, 'it is being sent');
    world.emulator.faults.clear();
    await world.until(() => asked(world, 'update-file') === 1, 'it is marked');
    await world.wait(MINUTE);
    expect(await markOf(world)).toMatchObject({ sha256: createHash('sha256').update(other).digest('hex') });
    expect(asked(world, 'update-file')).toBe(1);
    expect(confirmed(running)).toEqual(['a.bin stored']);
  });
});
