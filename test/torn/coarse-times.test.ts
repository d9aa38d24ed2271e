import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Clock } from '../../src/domain/clock.ts';
import { fingerprintOf } from '../../src/domain/fingerprint.ts';
import { NO_MOUNTS, unmount } from '../mounts.ts';
import { createWorldWith, type World } from '../sync/world.ts';

/** The time of the machine, which is what file systems stamp by, ahead by so much. */
function clockAhead(aheadMs: () => number): Clock {
  return {
    now: () => Date.now() + aheadMs(),
    monotonic: () => performance.now() + aheadMs(),
    sleep: async () => {
      await turn();
    },
  };
}

/** As a file system with coarse stamps would have it: the edit left no trace in them. */
function hideEdit(world: World, path: string): void {
  const state = new DatabaseSync(world.config().stateFile);
  const facts = statSync(join(world.directory, path), { bigint: true });
  state.prepare('UPDATE file SET fingerprint = ?').run(fingerprintOf(facts));
  state.close();
}

describe('an edit at the same size that no stamp shows', () => {
  test.each([
    [0, true],
    [1000, true],
    [1900, true],
    // From then on the next edit has another stamp, even where it is two seconds coarse.
    [2100, false],
  ])('of a file that was read %d ms after it was written is found: %j', async (laterMs, isFound) => {
    let aheadMs = 0;
    const world = await createWorldWith(clockAhead(() => aheadMs));
    const file = join(world.directory, 'docs/a');
    writeFileSync(file, 'first');
    // The clock stands at so much after the stamp, however long the test takes.
    const setAhead = (): void => {
      aheadMs = Math.ceil(statSync(file).ctimeMs) + laterMs - Date.now();
    };
    setAhead();
    await world.pass();
    expect(world.remote('a')).toBe('first');
    writeFileSync(file, 'other', { flag: 'r+' });
    const { mtime } = statSync(file);
    utimesSync(file, mtime, mtime);
    hideEdit(world, 'docs/a');
    aheadMs = 60_000;
    const second = await world.pass();
    expect(world.remote('a')).toBe(isFound ? 'other' : 'first');
    expect(second.summary.uploaded).toBe(isFound ? 1 : 0);
    // Once it has been at rest it is trusted, and not even read.
    expect(await world.pass()).toMatchObject({ requests: 0, summary: { unchanged: 1 } });
  });
});

test('on a file system that stamps whole seconds, edits within one second are found', async (context) => {
  const world = await createWorldWith(clockAhead(() => 0));
  const [image, docs] = [join(world.directory, 'image'), join(world.directory, 'docs')];
  mkdirSync(docs, { recursive: true });
  writeFileSync(image, '');
  truncateSync(image, 4_000_000);
  // Inodes of 128 bytes have no room for fractions of a second.
  const isMade = spawnSync('mkfs.ext4', ['-q', '-I', '128', image]).status === 0;
  if (!isMade || spawnSync('mount', ['-o', 'loop', image, docs]).status !== 0) context.skip(NO_MOUNTS);
  onTestFinished(() => {
    unmount(docs);
  });
  world.configure({ sources: [{ directory: './docs', ignore: ['lost+found/'] }] });
  const file = join(docs, 'a');
  const print = (): string => fingerprintOf(statSync(file, { bigint: true }));
  let hidden = 0;
  for (let n = 0; n < 40 && hidden < 5; n++) {
    writeFileSync(file, `content ${String(n).padStart(3, '0')}`);
    await world.pass();
    const before = print();
    writeFileSync(file, `CONTENT ${String(n).padStart(3, '0')}`, { flag: 'r+' });
    if (print() === before) hidden += 1;
    await world.pass();
    expect(world.remote('a')).toBe(`CONTENT ${String(n).padStart(3, '0')}`);
  }
  // Most of them fall into one second.
  expect(hidden).toBeGreaterThan(0);
});
