import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';
import { makeTemporaryDirectory } from '../temporary-directory.ts';
import { isRunning } from './processes.ts';

test('what is to end with a process ends when that is killed, also if it was frozen', async () => {
  const directory = makeTemporaryDirectory('processes');
  buildSync({
    entryPoints: [join(import.meta.dirname, 'processes.ts')],
    outfile: join(directory, 'processes.mjs'),
    platform: 'node',
    format: 'esm',
  });
  const script = join(directory, 'starter.mjs');
  writeFileSync(
    script,
    `import { spawn } from 'node:child_process';
    import { endWithUs } from './processes.mjs';
    const { pid } = spawn('sleep', ['600'], { stdio: 'ignore', detached: true });
    endWithUs(pid);
    process.kill(pid, 'SIGSTOP');
    console.log(pid);`,
  );
  const starter = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = (await once(starter.stdout, 'data')) as [Buffer];
  const pid = Number(said.toString());
  onTestFinished(async () => {
    if (await isRunning(pid)) process.kill(pid, 'SIGKILL');
  });
  expect(await isRunning(pid)).toBe(true);
  starter.kill('SIGKILL');
  await expect.poll(() => isRunning(pid)).toBe(false);
});
