import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isDirectoryThere } from '../../../src/run/cluster/directory-checks.ts';
import { mountHanging, NO_MOUNTS } from '../../mounts.ts';
import { makeTemporaryDirectory } from '../../temporary-directory.ts';

test('a directory is there, or is not', async () => {
  const directory = makeTemporaryDirectory('sees');
  writeFileSync(join(directory, 'file'), '');
  expect(await isDirectoryThere(directory, 10_000)).toBe(true);
  for (const name of ['gone', 'file'])
    expect(await isDirectoryThere(join(directory, name), 10_000)).toBe(false);
});

test('a share that hangs is waited for only so long, and takes one thread however often it is looked at', async (context) => {
  const directory = makeTemporaryDirectory('sees');
  const [docs, share] = [join(directory, 'docs'), join(directory, 'share')];
  for (const one of [docs, share]) mkdirSync(one);
  const giveUp = mountHanging(share);
  if (giveUp === null) {
    context.skip(NO_MOUNTS);
    return;
  }
  const patienceMs = 100;
  const beganMs = performance.now();
  expect(await isDirectoryThere(share, patienceMs)).toBeNull();
  // Timers may fire a little early.
  expect(performance.now() - beganMs).toBeGreaterThan(patienceMs - 10);
  // More looks than there are threads: what is elsewhere is seen all the same.
  const looks = Array.from({ length: 20 }, () => isDirectoryThere(share, patienceMs));
  expect(new Set(await Promise.all(looks))).toEqual(new Set([null]));
  expect(await isDirectoryThere(docs, 10_000)).toBe(true);
  const waiting = isDirectoryThere(share, 10_000);
  giveUp();
  expect(await waiting, 'it answers that it is gone').toBe(false);
  expect(await isDirectoryThere(share, 10_000), 'it is back').toBe(true);
});
