import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fill, mountSmall, NO_MOUNTS, unmount } from '../mounts.ts';
import { createSite, start } from './binary.ts';

test('a disk that fills up in the midst ends the pass at once: exit 3, a summary, the fix; later it goes on', async (context) => {
  const site = await createSite({ stateFile: './small/state.db' });
  const small = join(site.directory, 'small');
  if (!mountSmall(small, '200k')) context.skip(NO_MOUNTS);
  for (let n = 0; n < 1500; n++) site.write(`docs/${n}`, 'x');
  const full = await site.sync('--log-level', 'silent');
  expect(full.code).toBe(3);
  expect(full.lines().at(-1)).toMatchObject({ kind: 'summary' });
  expect(full.stderr).toContain('free some space, then run again');
  unmount(small);
  const after = await site.sync('--log-level', 'silent');
  expect(after.code).toBe(0);
  expect(site.emulator.listFiles('bot-1').filter(({ content }) => content?.size === 1)).toHaveLength(1500);
});

test('a disk that is full when all was sent: exit 3, one summary, the fix; later it goes on', async (context) => {
  const site = await createSite({ stateFile: './small/state.db' });
  const small = join(site.directory, 'small');
  if (!mountSmall(small, '400k')) context.skip(NO_MOUNTS);
  site.write('docs/a', 'x');
  site.emulator.faults.add({ operation: 'upload', kind: 'hang' });
  const running = start(site.directory, ['sync', '--once', '--json', '--log-level', 'silent'], site.env);
  await expect.poll(() => site.emulator.faults.pending().length).toBe(0);
  const ballast = fill(small);
  site.emulator.faults.clear();
  const full = await running.ended;
  expect(full.code).toBe(3);
  expect(full.lines().map(({ kind }) => kind)).toEqual(['upload', 'summary']);
  expect(full.stderr).toContain('free some space, then run again');
  for (const name of ballast) rmSync(join(small, name));
  // That the file arrived is not on record: to be sure, it is sent again.
  expect((await site.sync()).lines()).toMatchObject([
    { kind: 'upload', reason: 'interrupted' },
    { uploaded: 1 },
  ]);
  expect((await site.sync()).lines()).toMatchObject([{ kind: 'summary', unchanged: 1 }]);
});
