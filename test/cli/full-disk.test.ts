import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mountSmall, NO_MOUNTS, unmount } from '../mounts.ts';
import { createSite } from './binary.ts';

test('a disk that fills up in the midst ends the pass at once: exit 3, a summary, the mend; later it goes on', async (context) => {
  const site = await createSite({ stateFile: './small/state.db' });
  const small = join(site.directory, 'small');
  if (!mountSmall(small, '200k')) context.skip(NO_MOUNTS);
  for (let n = 0; n < 1500; n++) site.write(`docs/${n}`, 'x');
  const full = await site.sync('--log-level', 'silent');
  expect(full.code).toBe(3);
  expect(full.lines().at(-1)).toMatchObject({ kind: 'summary' });
  expect(full.stderr).toContain('make room, then run again');
  unmount(small);
  const after = await site.sync('--log-level', 'silent');
  expect(after.code).toBe(0);
  expect(site.emulator.listFiles('bot-1').filter(({ content }) => content?.size === 1)).toHaveLength(1500);
});
