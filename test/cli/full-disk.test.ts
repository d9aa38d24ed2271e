import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createSite } from './binary.ts';

test('a disk that fills up in the midst ends the pass at once: exit 3, a summary, the mend; later it goes on', async (context) => {
  const site = await createSite({ stateFile: './small/state.db' });
  const small = join(site.directory, 'small');
  mkdirSync(small);
  // Only root may mount.
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=200k', 'tmpfs', small]).status !== 0) context.skip();
  const unmount = (): void => {
    spawnSync('umount', [small]);
  };
  onTestFinished(unmount);
  for (let n = 0; n < 1500; n++) site.write(`docs/${n}`, 'x');
  const full = await site.sync('--log-level', 'silent');
  expect(full.code).toBe(3);
  expect(full.lines().at(-1)).toMatchObject({ kind: 'summary' });
  expect(full.stderr).toContain('make room, then run again');
  unmount();
  const after = await site.sync('--log-level', 'silent');
  expect(after.code).toBe(0);
  expect(site.emulator.listFiles('bot-1').filter(({ content }) => content?.size === 1)).toHaveLength(1500);
});
