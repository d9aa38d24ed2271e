import {
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { WatchedFiles } from '../../src/files/watched-files.ts';
import { SEED } from '../seed.ts';
import { eventually, temporaryDirectory } from './watch-fixture.ts';
import { ManualClock } from '../manual-clock.ts';

/** Of real time. */
const POLL_MS = 75;
/** Longer than a test takes. */
const NEVER_MS = 3_600_000;
const SETTLE_MS = 500;
const COMPARE_MS = 60_000;

interface Followed {
  readonly clock: ManualClock;
  readonly files: WatchedFiles;
  /** What was told, in order. */
  readonly told: string[][];
  /** Lets time go by until a condition holds, never as much as it takes for a comparison by itself. */
  readonly until: (condition: () => boolean, what: string) => Promise<void>;
}

/** Follows files; comparisons by themselves come only when a test lets that much time go by at once. */
async function followed(paths: readonly string[], compareMs = Infinity, pollMs = POLL_MS): Promise<Followed> {
  const clock = new ManualClock();
  const told: string[][] = [];
  const files = new WatchedFiles({
    clock,
    pollMs,
    settleMs: SETTLE_MS,
    compareMs,
    changed: (changed) => {
      told.push([...changed]);
      return Promise.resolve();
    },
  });
  await files.follow(paths);
  files.start();
  onTestFinished(() => files.stop());
  const until = (condition: () => boolean, what: string): Promise<void> =>
    eventually(async () => {
      await clock.advance(SETTLE_MS / 5);
      return condition();
    }, what);
  return { clock, files, told, until };
}

/** Files that this process polls. */
function polledFiles(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'StatWatcher').length;
}

/** Lays out a directory as Kubernetes does: the file is a link through `..data` into a directory with a stamp. */
function mountVolume(directory: string, name: string, content: string): void {
  mkdirSync(join(directory, '..first'), { recursive: true });
  writeFileSync(join(directory, '..first', name), content);
  symlinkSync('..first', join(directory, '..data'));
  symlinkSync(`..data/${name}`, join(directory, name));
}

/** Kubernetes' own order: a new directory, a link to it, the link renamed over `..data`, the old directory removed. */
function swapVolume(directory: string, name: string, content: string, before: string, next: string): void {
  mkdirSync(join(directory, next));
  writeFileSync(join(directory, next, name), content);
  symlinkSync(next, join(directory, '..data_tmp'));
  renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
  rmSync(join(directory, before), { recursive: true });
}

const ways = {
  'written in place': (file: string, content: string) => {
    writeFileSync(file, content);
  },
  'renamed over': (file: string, content: string) => {
    writeFileSync(`${file}.new`, content);
    renameSync(`${file}.new`, file);
  },
  'deleted and created': (file: string, content: string) => {
    rmSync(file);
    writeFileSync(file, content);
  },
  'moved away and created': (file: string, content: string) => {
    renameSync(file, `${file}~`);
    writeFileSync(file, content);
  },
  'its directory replaced': (file: string, content: string) => {
    const directory = dirname(file);
    rmSync(`${directory}.new`, { recursive: true, force: true });
    mkdirSync(`${directory}.new`);
    writeFileSync(file.replace(directory, `${directory}.new`), content);
    rmSync(directory, { recursive: true });
    renameSync(`${directory}.new`, directory);
  },
  'its directory deleted and created': (file: string, content: string) => {
    rmSync(dirname(file), { recursive: true });
    mkdirSync(dirname(file));
    writeFileSync(file, content);
  },
  'a directory further up moved away and created': (file: string, content: string) => {
    const above = dirname(dirname(file));
    rmSync(`${above}.old`, { recursive: true, force: true });
    renameSync(above, `${above}.old`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  },
  'a link in its place': (file: string, content: string) => {
    const target = join(dirname(file), 'target');
    rmSync(target, { force: true });
    writeFileSync(target, content);
    rmSync(file);
    symlinkSync('target', file);
  },
  'a directory above made a link': (file: string, content: string) => {
    const directory = dirname(file);
    const other = `${directory}.linked-${content.replaceAll(/\W/gu, '-')}`;
    mkdirSync(other);
    writeFileSync(join(other, 'token'), content);
    rmSync(directory, { recursive: true });
    symlinkSync(other, directory);
  },
};

test('a file is noticed that a Kubernetes volume swaps', async () => {
  const root = temporaryDirectory();
  mountVolume(root, 'token', 'one');
  const file = join(root, 'token');
  const { told, until } = await followed([file]);
  for (const [before, next] of [
    ['..first', '..second'],
    ['..second', '..third'],
    ['..third', '..first'],
  ] as const) {
    told.length = 0;
    swapVolume(root, 'token', next, before, next);
    await until(() => told.length > 0, `${next} is told`);
    expect(told).toEqual([[file]]);
  }
});

test('a file is noticed that was not there at first, nor the directories above it', async () => {
  const root = temporaryDirectory();
  const file = join(root, 'later', 'still', 'token');
  const { told, until } = await followed([file]);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, 'one');
  await until(() => told.length > 0, 'it is told');
  expect(told).toEqual([[file]]);
  unlinkSync(file);
  await until(() => told.length > 1, 'that it went is told');
});

test('a file is noticed that goes again as soon as it was told', async () => {
  const file = join(temporaryDirectory(), 'token');
  const told: boolean[] = [];
  const clock = new ManualClock();
  const files = new WatchedFiles({
    clock,
    pollMs: POLL_MS,
    settleMs: SETTLE_MS,
    compareMs: Infinity,
    changed: () => {
      told.push(existsSync(file));
      if (told.length === 1) unlinkSync(file);
      return Promise.resolve();
    },
  });
  await files.follow([file]);
  files.start();
  onTestFinished(() => files.stop());
  writeFileSync(file, 'one');
  await eventually(async () => {
    await clock.advance(SETTLE_MS / 5);
    return told.length > 1;
  }, 'that it went is told');
  expect(told).toEqual([true, false]);
});

test('a file is noticed that cannot be read any more, and again when it can', async () => {
  const file = join(temporaryDirectory(), 'token');
  writeFileSync(file, 'one');
  const { told, until } = await followed([file]);
  rmSync(file);
  symlinkSync(file, file);
  await until(() => told.length > 0, 'the link to itself is told');
  await until(() => true, 'it is looked at again');
  rmSync(file);
  writeFileSync(file, 'two');
  await until(() => told.length > 1, 'two is told');
});

test('60 random replacements are all noticed without a comparison', { timeout: 120_000 }, async () => {
  const root = temporaryDirectory();
  const files = ['a', 'b'].map((name) => join(root, name, 'directory', 'token'));
  for (const file of files) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, 'first');
  }
  const { told, until } = await followed(files);
  const names = Object.keys(ways) as (keyof typeof ways)[];
  const steps = fc.sample(
    fc.record({ way: fc.constantFrom(...names), file: fc.constantFrom(...files), waits: fc.boolean() }),
    { numRuns: 60, seed: SEED },
  );
  let expected = new Set<string>();
  for (const [count, { way, file, waits }] of steps.entries()) {
    ways[way](file, `content ${count}`);
    expected.add(file);
    if (!waits && count < steps.length - 1) continue;
    await until(
      () => [...expected].every((one) => told.flat().includes(one)),
      `${way} is told, step ${count}`,
    );
    expected = new Set();
    told.length = 0;
  }
});

test('a file is noticed that is replaced by an older one of the same length', async () => {
  const file = join(temporaryDirectory(), 'token');
  writeFileSync(file, 'one');
  const { told, until } = await followed([file]);
  await until(() => polledFiles() === 1, 'it is watched');
  writeFileSync(`${file}.old`, 'two');
  utimesSync(`${file}.old`, 1_000_000_000, 1_000_000_000);
  renameSync(`${file}.old`, file);
  await until(() => told.length > 0, 'it is told');
  expect(told).toEqual([[file]]);
});

test('a file is noticed that changes twice within the 50 ms in which chokidar reports one change', async () => {
  const file = join(temporaryDirectory(), 'token');
  writeFileSync(file, 'one');
  const { told, until } = await followed([file], Infinity, POLL_MS / 15);
  await until(() => polledFiles() === 1, 'it is watched');
  for (let count = 0; count < 20; count += 1) {
    told.length = 0;
    writeFileSync(file, `content ${count}`);
    await until(() => told.length > 0, `content ${count} is told`);
  }
});

test('a file is not told of before it stands still', async () => {
  const root = temporaryDirectory();
  const file = join(root, 'token');
  writeFileSync(file, 'one');
  const { clock, told, until } = await followed([file]);
  for (let count = 0; count < 20; count += 1) {
    writeFileSync(file, `half ${count}`);
    await clock.advance(SETTLE_MS / 5);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(told).toEqual([]);
  }
  await until(() => told.length > 0, 'it is told');
  expect(told).toEqual([[file]]);
});

test('what is reverted in time, or has the same content again, is not told of', async () => {
  const root = temporaryDirectory();
  const file = join(root, 'token');
  const other = join(root, 'other');
  writeFileSync(file, 'one');
  writeFileSync(other, 'one');
  const { told, until } = await followed([file, other]);
  ways['renamed over'](file, 'two');
  ways['renamed over'](file, 'one');
  utimesSync(file, 1, 1);
  // A mark: when it is told, all before it was looked at.
  writeFileSync(other, 'two');
  await until(() => told.length > 0, 'the mark is told');
  expect(told).toEqual([[other]]);
});

test('what was accepted is not told of, and files that are no longer followed are not watched', async () => {
  const root = temporaryDirectory();
  const [before, after] = ['before', 'after'].map((name) => join(root, name, 'token')) as [string, string];
  for (const file of [before, after]) {
    mkdirSync(dirname(file));
    writeFileSync(file, 'one');
  }
  const { files, told, until } = await followed([before]);
  writeFileSync(before, 'two');
  await files.accept();
  await files.follow([after]);
  writeFileSync(before, 'three');
  writeFileSync(after, 'two');
  await until(() => told.length > 0, 'the one that is followed is told');
  expect(told).toEqual([[after]]);
});

test('stopped and started, it tells what happened meanwhile; stopped, it polls nothing', async () => {
  const root = temporaryDirectory();
  const file = join(root, 'token');
  writeFileSync(file, 'one');
  const { files, told, until } = await followed([file]);
  await until(() => polledFiles() === 1, 'it is watched');
  await files.stop();
  expect(polledFiles()).toBe(0);
  writeFileSync(file, 'two');
  files.start();
  await until(() => told.length > 0, 'it is told');
  expect(told).toEqual([[file]]);
});

test('a change that no poll finds is found by the comparison now and then', async () => {
  const root = temporaryDirectory();
  const file = join(root, 'token');
  writeFileSync(file, 'one');
  const { clock, told, until } = await followed([file], COMPARE_MS, NEVER_MS);
  await until(() => (clock.nextWakeMs ?? 0) > SETTLE_MS, 'it waits for the next comparison');
  writeFileSync(file, 'two');
  await clock.advance(COMPARE_MS);
  await until(() => told.length > 0, 'the comparison finds it');
  expect(told).toEqual([[file]]);
});
