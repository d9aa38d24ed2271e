import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { TreeWatcher, type WatchOptions } from '../../src/files/watch-tree.ts';
import { makeTemporaryDirectory } from '../temporary-directory.ts';
import { listDirectories } from '../list-directories.ts';
import { ManualClock } from '../manual-clock.ts';

/** How long a path stands still before it is told of, in these tests; in the clock's milliseconds. */
export const SETTLE_MS = 500;
export const MAX_DELAY_MS = 10_000;

/**
 * Turns of at least a millisecond, long enough for any event to arrive: reached only when a test fails. On a busy machine, or
 * beside tests of the same process, turns take longer, as does what is waited for.
 */
const LIMIT_TURNS = 15_000;

/** A directory that is watched, and what was told of it. */
export interface Watched {
  readonly root: string;
  readonly clock: ManualClock;
  readonly watcher: TreeWatcher;
  /** All paths that settled, in the order they were told. */
  readonly settled: string[];
  readonly batches: string[][];
  readonly lost: string[];
  readonly limited: string[];
  /** Lets time go by until a condition holds. */
  readonly until: (condition: () => boolean, what?: string) => Promise<void>;
  /** Lets time go by until nothing is pending, and what was done to the tree before was told. */
  readonly calm: () => Promise<void>;
}

/** An empty temporary directory without links in its path, removed after the test. */
export function temporaryDirectory(): string {
  return makeTemporaryDirectory('watch');
}

/**
 * Watches a directory, ready. The watcher is closed after the test.
 *
 * @param lookAgain - called with each path that settled, and with the root's, '', when events were lost.
 */
export async function watchDirectory(
  root: string,
  options: Partial<Omit<WatchOptions, 'root' | 'listener'>> = {},
  lookAgain: (path: string) => void = () => undefined,
): Promise<Watched> {
  const clock = new ManualClock();
  const batches: string[][] = [];
  const settled: string[] = [];
  const lost: string[] = [];
  const limited: string[] = [];
  const watcher = new TreeWatcher({
    root,
    ignoresDirectory: () => false,
    settleMs: SETTLE_MS,
    maxDelayMs: MAX_DELAY_MS,
    clock,
    listener: {
      settled: (paths) => {
        batches.push([...paths]);
        for (const path of paths) {
          settled.push(path);
          lookAgain(path);
        }
      },
      lost: (reason) => {
        lost.push(reason);
        lookAgain('');
      },
      limited: (message) => limited.push(message),
    },
    ...options,
  });
  onTestFinished(() => watcher.close());
  await watcher.ready;
  const until = async (condition: () => boolean, what = 'the condition'): Promise<void> => {
    await eventually(async () => {
      await clock.advance(SETTLE_MS / 5);
      return condition();
    }, what);
  };
  let marks = 0;
  const calm = async (): Promise<void> => {
    // Events come in order: when one made after all others was told, the others have at least arrived.
    const mark = `mark-${++marks}`;
    const lostBefore = lost.length;
    writeFileSync(join(root, mark), '');
    await until(() => settled.includes(mark) || lost.length > lostBefore, `${mark} settles`);
    await until(() => watcher.pending === 0, 'nothing is pending');
  };
  return { root, clock, watcher, settled, batches, lost, limited, until, calm };
}

/** Tries until a condition holds, turn by turn of the event loop. */
export async function eventually(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let turns = 0; !(await condition()); turns++) {
    if (turns > LIMIT_TURNS) throw new Error(`did not happen: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** The directories of a tree, its root among them. */
export function countDirectories(root: string): number {
  return listDirectories(root).length + 1;
}

/** Inotify watches that this process has; `null` where the system does not tell. */
export function inotifyWatches(): number | null {
  let count = 0;
  try {
    for (const fd of readdirSync('/proc/self/fd')) {
      const target = readlinkIfAny(`/proc/self/fd/${fd}`);
      if (target !== 'anon_inode:inotify') continue;
      count += readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').match(/^inotify /gmu)?.length ?? 0;
    }
  } catch {
    return null;
  }
  return count;
}

function readlinkIfAny(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
