import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { createSite, start } from '../cli/binary.ts';

const SCRIPT = resolve(import.meta.dirname, '../../packaging/docker/health-check.js');

function check(directory: string): { code: number | null; said: string } {
  const { status, stdout } = spawnSync(process.execPath, [SCRIPT, directory], { encoding: 'utf8' });
  return { code: status, said: stdout.trim() };
}

test('a container is healthy while botsync runs, and only then', async () => {
  const site = await createSite({ stateFile: './state/state.db' });
  const state = resolve(site.directory, 'state');
  const daemon = start(site.directory, ['sync'], site.env);
  await expect
    .poll(() => check(state), { timeout: 20_000 })
    .toEqual({ code: 0, said: 'botsync answers 200' });
  // What a botsync that was killed left, under another state file.
  writeFileSync(resolve(state, 'a.db.socket'), '');
  expect(check(state)).toEqual({ code: 0, said: 'botsync answers 200' });
  daemon.child.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
  expect(check(state)).toEqual({
    code: 1,
    said: expect.stringMatching(/^no botsync runs|^botsync does not answer/u) as string,
  });
});
