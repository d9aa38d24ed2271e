import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isWithin } from '../../src/domain/key.ts';
import { SEED } from '../seed.ts';
import { listDirectories } from '../list-directories.ts';
import { countDirectories, SETTLE_MS, temporaryDirectory, watchDirectory } from './watch-fixture.ts';

/** Few names and little depth, so that steps meet: directories are replaced by files, moved into each other and back. */
const path = fc
  .array(fc.constantFrom('a', 'b', 'c', 'a b', '\u00e4'), { minLength: 1, maxLength: 4 })
  .map((names) => names.join('/'));

const step = fc.record({
  what: fc.constantFrom(
    'write',
    'append',
    'replace',
    'mkdir',
    'mkdir',
    'move',
    'move',
    'moveOut',
    'moveIn',
    'remove',
    'remove',
    'link',
  ),
  path,
  other: path,
  /** What goes on before the next step: nothing, the watcher gets a turn, or time goes by as well. */
  then: fc.constantFrom('nothing', 'nothing', 'nothing', 'turn', 'time'),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Takes a step, as far as it can be taken. */
function take({ what, path: at, other }: Step, root: string, outside: string, count: number): void {
  const here = join(root, at);
  const there = join(root, other);
  switch (what) {
    case 'write':
      mkdirSync(dirname(here), { recursive: true });
      writeFileSync(here, String(count));
      return;
    case 'append':
      appendFileSync(here, String(count));
      return;
    case 'replace':
      writeFileSync(`${here}.tmp`, String(count));
      renameSync(`${here}.tmp`, here);
      return;
    case 'mkdir':
      mkdirSync(here, { recursive: true });
      return;
    case 'move':
      renameSync(here, there);
      return;
    case 'moveOut':
      renameSync(here, join(outside, String(count)));
      return;
    case 'moveIn': {
      const [found] = readdirSync(outside);
      if (found !== undefined) renameSync(join(outside, found), here);
      return;
    }
    case 'remove':
      rmSync(here, { recursive: true });
      return;
    case 'link':
      symlinkSync(there, here);
      return;
  }
}

/** Whether all above a path are directories, none of them a link to one. */
function isReachable(root: string, at: string): boolean {
  if (!at.includes('/')) return true;
  const above = dirname(at);
  return (
    isReachable(root, above) &&
    lstatSync(join(root, above), { throwIfNoEntry: false })?.isDirectory() === true
  );
}

/** What is at a path and below it, by path relative to the root; a file by its content, a link by its target. */
function* contents(root: string, at: string): Generator<[string, string]> {
  if (!isReachable(root, at)) return;
  const here = join(root, at);
  const stats = lstatSync(here, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (stats.isSymbolicLink()) yield [at, `to ${readlinkSync(here)}`];
  else if (stats.isFile()) yield [at, readFileSync(here, 'utf8')];
  else {
    if (at !== '') yield [at, 'directory'];
    for (const name of readdirSync(here)) yield* contents(root, at === '' ? name : `${at}/${name}`);
  }
}

/** Some directories, three deep, with a file in each. */
function plant(root: string): void {
  for (const at of ['a/b/c', 'b/a/c', 'c/c/c/c']) {
    mkdirSync(join(root, at), { recursive: true });
    writeFileSync(join(root, at, 'b'), 'first');
  }
}

/** Takes the steps, as far as they can be taken, and lets the watcher have its turns in between. */
async function churn(
  steps: readonly Step[],
  root: string,
  outside: string,
  pass: (ms: number) => Promise<void>,
): Promise<void> {
  for (const [count, one] of steps.entries()) {
    try {
      take(one, root, outside, count);
    } catch {
      // Not possible as things are.
    }
    if (one.then === 'turn') await turn();
    else if (one.then === 'time') await pass(SETTLE_MS / 3);
  }
}

test('who looks again at what is told knows the tree in the end, whatever is done to it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 300, maxLength: 300 }), async (steps) => {
      const root = temporaryDirectory();
      const outside = temporaryDirectory();
      plant(root);
      const known = new Map(contents(root, ''));
      const lookAgain = (at: string): void => {
        for (const one of known.keys()) if (at === '' || isWithin(at, one)) known.delete(one);
        for (const [one, content] of contents(root, at)) known.set(one, content);
      };
      const { clock, watcher, lost, limited, calm } = await watchDirectory(root, {}, lookAgain);

      await churn(steps, root, outside, (ms) => clock.advance(ms));
      await calm();

      expect(Object.fromEntries(known)).toEqual(Object.fromEntries(contents(root, '')));
      expect([...lost, ...limited]).toEqual([]);
      expect(watcher.watchedDirectories).toBe(countDirectories(root));
      await watcher.close();
    }),
    // Each run takes its own time with the kernel: a smaller example need not fail.
    { numRuns: 5, endOnFailure: true },
  );
});

// A watch that is dead, or follows a directory that was moved away, shows in the end only by what it does not tell.
test('after whatever was done to a tree, one more file in every directory is told of', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 300, maxLength: 300 }), async (steps) => {
      const root = temporaryDirectory();
      const outside = temporaryDirectory();
      plant(root);
      const { clock, watcher, settled, lost, calm } = await watchDirectory(root);
      await churn(steps, root, outside, (ms) => clock.advance(ms));
      await calm();
      settled.length = 0;

      const added = [root, ...listDirectories(root)].map((directory) => join(directory, 'one-more'));
      for (const file of added) writeFileSync(file, '');
      await calm();
      const told = new Set(settled.map((at) => join(root, at)));
      expect(added.filter((file) => !told.has(file))).toEqual([]);
      expect(lost).toEqual([]);
      await watcher.close();
    }),
    { numRuns: 5, seed: SEED, endOnFailure: true },
  );
});
