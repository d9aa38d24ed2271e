import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { recordsClaimOnlyWhatIsThere } from '../model/invariants.ts';
import { observe } from '../model/observe.ts';
import { createDaemonWorld } from '../sync/daemon-world.ts';
import { EDITORS, LINKERS, SWAPPERS } from './writers.ts';

const SECRET = 'do not read this';
const WRITERS = [...EDITORS, ...SWAPPERS, ...LINKERS];

const MOMENTS = [
  { moment: 'while the upsert waits', operation: 'upsert', size: 5 },
  { moment: 'while its bytes are not taken', operation: 'upload', size: 600_000 },
];

describe.each(MOMENTS)('a daemon, beside somebody who writes $moment,', ({ operation, size }) => {
  test.each(WRITERS)('$what: hangs on nothing and ends up exact', async ({ write }) => {
    const world = await createDaemonWorld();
    const { faults } = world.emulator;
    world.write('docs/sibling', 'a sibling');
    world.write('outside', SECRET.padEnd(size, '!'));
    const { daemon } = await world.start();
    faults.add({ operation, key: 'file', kind: 'hang' });
    world.write('docs/file', Buffer.alloc(size, 'x'));
    await world.until(() => faults.pending().length === 0, 'the request is held');
    const file = join(world.directory, 'docs/file');
    write({
      file,
      sibling: join(world.directory, 'docs/sibling'),
      outside: join(world.directory, 'outside'),
    });
    faults.clear();
    world.write('docs/after', 'not held up');
    await world.until(() => world.remote('after') === 'not held up', 'another file arrives');
    const isFile = lstatSync(file, { throwIfNoEntry: false })?.isFile() === true;
    if (isFile) {
      const content = readFileSync(file, 'utf8');
      await world.until(() => world.remote('file') === content, 'what was written arrives');
    }
    await world.until(() => daemon.activity.queued + daemon.activity.sending === 0, 'nothing is left to do');
    recordsClaimOnlyWhatIsThere(observe(world.emulator, world.config(), ['docs'], world.clock.now(), true));
    for (const key of world.keys()) expect(world.remote(key)?.includes(SECRET) ?? false).toBe(false);
  });
});
