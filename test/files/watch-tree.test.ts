import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isWithin } from '../../src/domain/key.ts';
import {
  countDirectories,
  eventually,
  inotifyWatches,
  MAX_DELAY_MS,
  SETTLE_MS,
  temporaryDirectory,
  watchDirectory,
} from './watch-fixture.ts';

/** Whether a path was told, itself or by a directory above it. */
function covers(told: readonly string[], path: string): boolean {
  return told.some((one) => isWithin(one, path));
}

/** Files in directories of directories, as paths with contents. */
function plant(root: string, ...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), path);
  }
}

describe('files', () => {
  test('a new file, an edit, a rename and a deletion are told by their paths, once each', async () => {
    const root = temporaryDirectory();
    plant(root, 'a/b/edited', 'a/deleted', 'renamed');
    const { settled, calm } = await watchDirectory(root);
    writeFileSync(join(root, 'new'), '1');
    appendFileSync(join(root, 'a/b/edited'), '2');
    rmSync(join(root, 'a/deleted'));
    renameSync(join(root, 'renamed'), join(root, 'a/b/moved'));
    await calm();
    expect(settled.filter((path) => !path.startsWith('mark-')).sort()).toEqual(
      ['a/b/edited', 'a/b/moved', 'a/deleted', 'new', 'renamed'].sort(),
    );
  });

  test('a file is told when it stood still for long enough, and no sooner', async () => {
    const root = temporaryDirectory();
    const { settled, clock, watcher } = await watchDirectory(root);
    writeFileSync(join(root, 'f'), '1');
    await eventually(() => watcher.pending === 1, 'the event arrives');
    await clock.advance(SETTLE_MS - 1);
    expect(settled).toEqual([]);
    await clock.advance(1);
    expect(settled).toEqual(['f']);
    expect(watcher.pending).toBe(0);
    expect(clock.sleepers).toBe(0);
  });

  test('a file that never stands still is told after the longest delay', async () => {
    const root = temporaryDirectory();
    const { settled, clock, watcher } = await watchDirectory(root);
    // Whether the events are seen in time or not: at the moment it would be told, it is another file than before.
    let wroteForMs = 0;
    for (; settled.length === 0; wroteForMs += SETTLE_MS / 2) {
      appendFileSync(join(root, 'f'), 'x');
      await eventually(() => watcher.pending === 1, 'the event arrives');
      await clock.advance(SETTLE_MS / 2);
    }
    expect(wroteForMs).toBe(MAX_DELAY_MS);
    expect(settled).toEqual(['f']);
  });

  test('links are told of and not followed', async () => {
    const root = temporaryDirectory();
    const outside = temporaryDirectory();
    plant(outside, 'd/f');
    const { settled, calm, watcher } = await watchDirectory(root);
    symlinkSync(join(outside, 'd'), join(root, 'link'));
    await calm();
    expect(settled).toContain('link');
    expect(watcher.watchedDirectories).toBe(1);
    writeFileSync(join(outside, 'd/g'), '');
    await calm();
    expect(settled.filter((path) => path.startsWith('link/'))).toEqual([]);
  });
});

describe('directories', () => {
  test('only they are watched, and ignored ones are not', async () => {
    const root = temporaryDirectory();
    plant(root, 'a/b/c/f', 'a/g', '.git/objects/x', 'd/.git/y');
    symlinkSync('a', join(root, 'link'));
    execFileSync('mkfifo', [join(root, 'fifo')]);
    const before = inotifyWatches();
    const { watcher, settled, calm } = await watchDirectory(root, {
      ignoresDirectory: (path) => path === '.git' || path.endsWith('/.git'),
    });
    expect(watcher.watchedDirectories).toBe(5);
    if (before !== null) expect((inotifyWatches() ?? 0) - before).toBe(5);
    writeFileSync(join(root, '.git/objects/z'), '');
    mkdirSync(join(root, 'a/b/.git'));
    await calm();
    expect(watcher.watchedDirectories).toBe(5);
    expect(covers(settled, '.git/objects/z')).toBe(false);
  });

  test('a new one is told when all below it is watched, though it stood still sooner', async () => {
    const root = temporaryDirectory();
    const outside = temporaryDirectory();
    for (let i = 0; i < 3000; i += 1) mkdirSync(join(outside, `m/d${i}`), { recursive: true });
    const { settled, clock, watcher } = await watchDirectory(root);
    renameSync(join(outside, 'm'), join(root, 'm'));
    await eventually(() => watcher.pending === 1, 'the event arrives');
    await clock.advance(SETTLE_MS);
    expect(settled).toEqual([]);
    expect([watcher.pending, clock.sleepers]).toEqual([1, 0]);
    await eventually(() => settled.length > 0, 'it is told');
    expect(watcher.watchedDirectories).toBe(3002);
    expect([settled, watcher.pending]).toEqual([['m'], 0]);
  });

  const shapes: [string, (root: string, outside: string) => void, string[]][] = [
    [
      'made in one go with a file',
      (root) => {
        plant(root, 'a/b/c/d/f');
      },
      ['a/b/c/d'],
    ],
    [
      'moved in from outside',
      (root, outside) => {
        plant(outside, 'm/n/o/f');
        renameSync(join(outside, 'm'), join(root, 'm'));
      },
      ['m/n/o'],
    ],
    [
      'renamed',
      (root) => {
        renameSync(join(root, 'old'), join(root, 'renamed'));
      },
      ['renamed/x/y'],
    ],
    [
      'moved to another depth',
      (root) => {
        renameSync(join(root, 'old/x'), join(root, 'x'));
      },
      ['x/y'],
    ],
    [
      'deleted and made again',
      (root) => {
        rmSync(join(root, 'old'), { recursive: true });
        plant(root, 'old/x/y/f');
      },
      ['old/x/y'],
    ],
    [
      'swapped',
      (root) => {
        renameSync(join(root, 'old'), join(root, 'third'));
        renameSync(join(root, 'other'), join(root, 'old'));
        renameSync(join(root, 'third'), join(root, 'other'));
      },
      ['other/x/y', 'old/p/q'],
    ],
    [
      'made, deleted and made',
      (root) => {
        for (let i = 0; i < 5; i += 1) {
          mkdirSync(join(root, 'n/m'), { recursive: true });
          rmSync(join(root, 'n'), { recursive: true });
        }
        mkdirSync(join(root, 'n/m'), { recursive: true });
      },
      ['n/m'],
    ],
    [
      'put in place of a file',
      (root) => {
        rmSync(join(root, 'other/p/q/f'));
        mkdirSync(join(root, 'other/p/q/f'));
      },
      ['other/p/q/f'],
    ],
    [
      'named like their parents',
      (root) => {
        plant(root, 'n/n/n/n');
      },
      ['n', 'n/n', 'n/n/n'],
    ],
    [
      'with a name that looks like a path',
      (root) => {
        plant(root, 'a\\b/~/f');
      },
      ['a\\b', 'a\\b/~'],
    ],
  ];
  test.each(shapes)('%s: told of, and watched from then on', async (_, change, directories) => {
    const root = temporaryDirectory();
    plant(root, 'old/x/y/f', 'other/p/q/f');
    const { settled, calm, watcher } = await watchDirectory(root);
    change(root, temporaryDirectory());
    await calm();
    for (const directory of directories) expect(covers(settled, directory)).toBe(true);
    expect(watcher.watchedDirectories).toBe(countDirectories(root));
    for (const directory of directories) {
      settled.length = 0;
      writeFileSync(join(root, directory, 'late'), '1');
      await calm();
      expect(settled).toContain(`${directory}/late`);
      rmSync(join(root, directory, 'late'));
      await calm();
    }
  });
});
