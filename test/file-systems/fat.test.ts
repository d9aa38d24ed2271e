import { readdirSync, renameSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDaemonWorld, sentPaths } from '../sync/daemon-world.ts';
import { createWorld, type PassOutcome, type World } from '../sync/world.ts';
import { FatDisk } from './fat-disk.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** A whole tick of two seconds, long ago. */
const WRITTEN_S = 1_700_000_000;

const EXPIRE = { removals: { mode: 'expire', maxCount: 1000, maxFraction: 1 } };

/** A world whose source looks as if it lay on FAT. */
async function createFatWorld(fields: Record<string, unknown> = EXPIRE) {
  const world = await createWorld(fields);
  const disk = new FatDisk(join(world.directory, 'docs'));
  return {
    ...world,
    disk,
    put: put(world),
    /** Passes, then waits until what was removed has expired. */
    mirror: async (): Promise<PassOutcome> => {
      const outcome = await world.pass({ disk });
      world.clock.advance(5 * MINUTE_MS);
      return outcome;
    },
  };
}

const put =
  (world: World) =>
  (path: string, content: string, writtenS = WRITTEN_S): void => {
    world.write(`docs/${path}`, content);
    utimesSync(join(world.directory, 'docs', path), writtenS, writtenS);
  };

const rename = (world: World, from: string, to: string): void => {
  renameSync(join(world.directory, 'docs', from), join(world.directory, 'docs', to));
};

test('a file whose name changes its case alone is gone under the old name', async () => {
  const world = await createFatWorld();
  world.put('Alpha.md', 'alpha');
  world.put('b.md', 'b');
  await world.mirror();
  rename(world, 'Alpha.md', 'alpha.md');
  expect(await world.mirror()).toMatchObject({ exitCode: 0, summary: { uploaded: 1, removed: 1 } });
  expect(world.keys()).toEqual(['alpha.md', 'b.md']);
  expect(await world.mirror()).toMatchObject({ exitCode: 0, requests: 0 });
});

test('so are all files below a directory whose name does, however many', async () => {
  const world = await createFatWorld();
  for (let n = 0; n < 50; n++) world.put(`Docs/deep/F${n}.md`, `${n}`);
  await world.mirror();
  rename(world, 'Docs', 'docs');
  for (let n = 0; n < 50; n++) rename(world, `docs/deep/F${n}.md`, `docs/deep/f${n}.md`);
  world.disk.opened = 0;
  // The directory of the old names is there under its new one, and looks as if it had lost all its files at once.
  expect(await world.mirror()).toMatchObject({ exitCode: 0, summary: { uploaded: 50, toRemove: 50 } });
  expect(await world.mirror()).toMatchObject({ exitCode: 0, summary: { uploaded: 0, removed: 50 } });
  expect(world.keys()).toEqual([...Array(50).keys()].map((n) => `docs/deep/f${n}.md`).sort());
  // To be sure, each is looked for once more before it is removed, attempts and all.
  expect(world.disk.opened).toBeLessThan(250);
});

test('a name that is composed otherwise takes its key over', async () => {
  const world = await createFatWorld();
  world.put('caf\u0065\u0301.md', 'one');
  await world.mirror();
  rename(world, 'caf\u0065\u0301.md', 'caf\u00e9.md');
  const [listed] = readdirSync(join(world.directory, 'docs'));
  expect(listed).toBe('caf\u00e9.md');
  expect(await world.mirror()).toMatchObject({ exitCode: 0, summary: { problems: 0, removed: 0 } });
  expect(await world.mirror()).toMatchObject({ exitCode: 0, requests: 0, summary: { unchanged: 1 } });
  expect(world.keys()).toEqual(['caf\u00e9.md']);
});

test('mounted again, with other inodes, nothing is sent', async () => {
  const world = await createFatWorld();
  for (let n = 0; n < 20; n++) world.put(`f${n}.md`, `${n}`);
  world.clock.advance(MINUTE_MS);
  await world.mirror();
  for (let n = 0; n < 3; n++) {
    world.disk.remount();
    expect(await world.mirror()).toMatchObject({ exitCode: 0, requests: 0, summary: { unchanged: 20 } });
  }
});

test('an edit of the same size with its time set back is found within a day, and little is read by each pass', async () => {
  const world = await createFatWorld();
  const count = 80;
  for (let n = 0; n < count; n++) world.put(`f${n}.md`, 'first');
  world.clock.advance(MINUTE_MS);
  await world.mirror();
  for (let n = 0; n < count; n++) world.put(`f${n}.md`, 'other');
  const found: number[] = [];
  for (let hours = 0; hours < 24; hours += 2) {
    world.clock.advance(2 * HOUR_MS);
    found.push((await world.pass({ disk: world.disk })).summary.uploaded);
  }
  expect(found.reduce((sum, one) => sum + one)).toBe(count);
  expect(Math.max(...found)).toBeLessThan(count / 3);
  for (const key of world.keys()) expect(world.remote(key)).toBe('other');
});

test('an edit within the tick in which the file was read is found by the next pass', async () => {
  const world = await createFatWorld();
  const tickS = Math.floor(world.clock.now() / 2000) * 2;
  world.put('a.md', 'first', tickS);
  await world.pass({ disk: world.disk });
  world.put('a.md', 'other', tickS);
  await world.pass({ disk: world.disk });
  expect(world.remote('a.md')).toBe('other');
});

test('what was found to differ and could not be sent is not forgotten', async () => {
  const world = await createFatWorld({ ...EXPIRE, upload: { concurrency: 1 } });
  world.put('a.md', 'first');
  world.clock.advance(MINUTE_MS);
  await world.mirror();
  world.put('a.md', 'other');
  world.clock.advance(24 * HOUR_MS);
  world.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 401, times: Infinity });
  world.put('0.md', 'found out by this one');
  expect(await world.pass({ disk: world.disk })).toMatchObject({ exitCode: 4 });
  world.emulator.faults.clear();
  await world.pass({ disk: world.disk });
  expect(world.remote('a.md')).toBe('other');
});

test('an edit that an event tells of is found at once, under whatever name it is told', async () => {
  const place: { disk?: FatDisk } = {};
  const world = await createDaemonWorld(EXPIRE, {}, 0, 0.5, {
    lstat: (path) => disk().lstat(path),
    stat: (path) => disk().stat(path),
    openDirectory: (path, encoding) => disk().openDirectory(path, encoding),
    fileSystemType: (path) => disk().fileSystemType(path),
  });
  const disk = (): FatDisk => (place.disk ??= new FatDisk(join(world.directory, 'docs')));
  const write = put(world);
  write('Docs/a.md', 'first');
  const running = await world.start();
  write('Docs/a.md', 'other');
  await world.until(() => world.remote('Docs/a.md') === 'other', 'the edit is sent');
  rename(world, 'Docs/a.md', 'Docs/A.md');
  await world.until(() => world.remote('Docs/A.md') === 'other', 'the new name is sent');
  await world.until(() => world.remote('Docs/a.md') !== 'other', 'the old name is removed');
  rename(world, 'Docs', 'docs');
  // The content is there before the answer is.
  await world.until(() => sentPaths(running).includes('docs/A.md'), 'the new directory is sent');
  expect(world.remote('docs/A.md')).toBe('other');
  expect(sentPaths(running)).toEqual(['Docs/a.md', 'Docs/a.md', 'Docs/A.md', 'docs/A.md']);
  expect(running.passes.map(({ trigger }) => trigger)).toEqual(['start']);
});
