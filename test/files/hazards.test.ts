import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TreeWatcher } from '../../src/files/watch-tree.ts';
import { isPossible, startChild } from './start-watch-child.ts';
import {
  countDirectories,
  inotifyWatches,
  SETTLE_MS,
  temporaryDirectory,
  watchDirectory,
} from './watch-fixture.ts';
import { ManualClock } from '../manual-clock.ts';

describe('a burst of events', () => {
  test('is told of once, in every tree; afterwards all directories are watched, and single paths are told', async () => {
    const root = temporaryDirectory();
    const otherRoot = temporaryDirectory();
    for (let i = 0; i < 10; i += 1) mkdirSync(join(root, `d${i}`));
    const tree = await watchDirectory(root);
    const other = await watchDirectory(otherRoot);
    // More than the kernel keeps, in one turn, so that nothing is told of what is made last.
    for (let i = 0; i < 12_000; i += 1) writeFileSync(join(root, `d${i % 10}`, `f${i}`), 'x');
    for (let i = 10; i < 200; i += 1) mkdirSync(join(root, `d${i}`));
    await tree.until(() => tree.lost.length > 0, 'the burst is told of');
    await other.until(() => other.lost.length > 0, 'the burst is told of in the other tree');
    await tree.calm();
    expect(tree.lost).toHaveLength(1);
    expect(other.lost).toHaveLength(1);
    expect(tree.watcher.watchedDirectories).toBe(201);
    expect(tree.settled.filter((path) => !path.startsWith('mark-'))).toEqual([]);
    writeFileSync(join(root, 'd199', 'late'), '');
    await tree.calm();
    expect(tree.settled).toContain('d199/late');
  });

  test('does not end the life of a directory that was replaced in it', async () => {
    const root = temporaryDirectory();
    mkdirSync(join(root, 'a/b'), { recursive: true });
    const tree = await watchDirectory(root);
    for (let i = 0; i < 3000; i += 1) {
      writeFileSync(join(root, `f${i}`), '');
      rmSync(join(root, `f${i}`));
    }
    rmSync(join(root, 'a'), { recursive: true });
    mkdirSync(join(root, 'a/b'), { recursive: true });
    await tree.until(() => tree.lost.length > 0, 'the burst is told of');
    await tree.calm();
    writeFileSync(join(root, 'a/b/late'), '');
    await tree.calm();
    expect(tree.settled).toContain('a/b/late');
  });
});

describe('a root', () => {
  test('that is deleted, moved or was never there does no harm', async () => {
    const parent = temporaryDirectory();
    for (const name of ['deleted', 'moved']) mkdirSync(join(parent, name, 'a/b'), { recursive: true });
    const deleted = await watchDirectory(join(parent, 'deleted'));
    const moved = await watchDirectory(join(parent, 'moved'));
    const never = await watchDirectory(join(parent, 'never'));
    expect(never.watcher.watchedDirectories).toBe(0);
    rmSync(join(parent, 'deleted'), { recursive: true });
    renameSync(join(parent, 'moved'), join(parent, 'away'));
    await deleted.until(() => deleted.settled.some((path) => path === 'a'), 'the deletion is told of');
    for (const { watcher } of [deleted, moved, never]) await watcher.close();
    expect([deleted.limited, moved.limited, never.limited]).toEqual([[], [], []]);
  });
});

describe('close', () => {
  test('leaves no watch and no sleeper, and nothing is told afterwards', async () => {
    const root = temporaryDirectory();
    mkdirSync(join(root, 'a/b'), { recursive: true });
    const before = inotifyWatches();
    const { watcher, clock, settled, until } = await watchDirectory(root);
    writeFileSync(join(root, 'f'), '');
    mkdirSync(join(root, 'c'));
    await until(() => watcher.pending > 0, 'an event arrives');
    const told = settled.length;
    writeFileSync(join(root, 'g'), '');
    await watcher.close();
    expect([clock.sleepers, watcher.watchedDirectories]).toEqual([0, 0]);
    expect(inotifyWatches()).toBe(before);
    await clock.advance(10 * SETTLE_MS);
    expect(settled).toHaveLength(told);
  });

  test('is possible before it is ready, and twice', async () => {
    const root = temporaryDirectory();
    for (let i = 0; i < 300; i += 1) mkdirSync(join(root, `d${i}/e`), { recursive: true });
    const before = inotifyWatches();
    const unexpected = (told: unknown): never => {
      throw new Error(`told after the end: ${String(told)}`);
    };
    const watcher = new TreeWatcher({
      root,
      ignoresDirectory: () => false,
      settleMs: SETTLE_MS,
      maxDelayMs: SETTLE_MS,
      clock: new ManualClock(),
      listener: { settled: unexpected, lost: unexpected, limited: unexpected },
    });
    await Promise.all([watcher.close(), watcher.ready]);
    await watcher.close();
    expect(watcher.watchedDirectories).toBe(0);
    expect(inotifyWatches()).toBe(before);
  });

  test('lets a process end by itself', async () => {
    const root = temporaryDirectory();
    const child = await startChild(root);
    await child.tells('ready');
    writeFileSync(join(root, 'f'), '');
    expect(await child.tells('settled')).toEqual(['f']);
    expect(await child.end()).toEqual({ code: 0, stderr: '' });
    expect(await child.tells('closed')).toBe(0);
  });
});

test('an error of the listener is not swallowed', async () => {
  const root = temporaryDirectory();
  const child = await startChild(root, { whatSettledDoes: 'throw' });
  await child.tells('ready');
  writeFileSync(join(root, 'f'), '');
  const { code, stderr } = await child.ended;
  expect(code).toBe(1);
  expect(stderr).toContain('a defect of the listener');
});

/** In a user namespace of one's own the limits can be set for oneself alone. */
function limitedTo(setting: string, limit: number): string[] {
  return [
    'unshare',
    '--user',
    '--map-root-user',
    'sh',
    '-c',
    `echo ${limit} >/proc/sys/user/${setting} && exec "$0" "$@"`,
  ];
}
const hasNamespaces = isPossible(
  'unshare',
  '--user',
  '--map-root-user',
  'test',
  '-w',
  '/proc/sys/user/max_inotify_watches',
);

describe.runIf(hasNamespaces)('a limit', () => {
  test('of watches is told of once, with what to do; the rest goes on', async () => {
    const root = temporaryDirectory();
    for (let i = 0; i < 30; i += 1) mkdirSync(join(root, `d${i}/e`), { recursive: true });
    const child = await startChild(root, { wrapper: limitedTo('max_inotify_watches', 20) });
    expect(await child.tells('ready')).toBe(20);
    expect(await child.tells('limited')).toMatch(
      /^20 of 61 directories of .* are watched.*fs\.inotify\.max_user_watches=\d+/u,
    );
    mkdirSync(join(root, 'new'));
    await child.settles('new');
    // Where room was made, new directories are watched again.
    for (let i = 0; i < 30; i += 1) rmSync(join(root, `d${i}`), { recursive: true });
    for (let i = 0; i < 30; i += 1) await child.settles(`d${i}`);
    mkdirSync(join(root, 'later/a'), { recursive: true });
    await child.settles('later');
    writeFileSync(join(root, 'later/a/f'), '');
    await child.settles('later/a/f');
    expect(child.told.filter((one) => 'limited' in one)).toHaveLength(1);
    expect((await child.end()).code).toBe(0);
  });

  test('of watching processes is told of', async () => {
    const root = temporaryDirectory();
    const child = await startChild(root, { wrapper: limitedTo('max_inotify_instances', 0) });
    expect(await child.tells('ready')).toBe(0);
    expect(await child.tells('limited')).toMatch(/^0 of 1 directories .*max_user_instances/u);
    expect(await child.end()).toEqual({ code: 0, stderr: '' });
  });
});

const isRoot = process.getuid?.() === 0;
const asNobody = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];

test.skipIf(isRoot && !isPossible(...(asNobody as [string]), 'true'))(
  'a directory that may not be read does no harm, and is watched once it may',
  async () => {
    const root = temporaryDirectory();
    chmodSync(root, 0o755);
    mkdirSync(join(root, 'open'));
    mkdirSync(join(root, 'shut/below'), { recursive: true });
    chmodSync(join(root, 'shut'), 0);
    const child = await startChild(root, { wrapper: isRoot ? asNobody : [] });
    expect(await child.tells('ready')).toBe(2);
    chmodSync(join(root, 'shut'), 0o755);
    await child.settles('shut');
    writeFileSync(join(root, 'shut/below/f'), '');
    await child.settles('shut/below/f');
    expect(child.told.filter((one) => 'limited' in one)).toEqual([]);
    expect(await child.end()).toEqual({ code: 0, stderr: '' });
    expect(countDirectories(root)).toBe(4);
  },
);
