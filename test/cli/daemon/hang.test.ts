import { spawnSync } from 'node:child_process';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { NO_MOUNTS, unmount } from '../../mounts.ts';
import { createSite, type Ended } from '../binary.ts';
import { launch, remote } from '../running-daemon.ts';

/** Mounts a file system that a process of its own serves; its id, or `null` where that is not possible. */
function mountServed(directory: string, image: string): number | null {
  mkdirSync(directory, { recursive: true });
  writeFileSync(image, '');
  truncateSync(image, 4_000_000);
  if (spawnSync('mkntfs', ['--quick', '--force', image]).status !== 0) return null;
  if (spawnSync('ntfs-3g', [image, directory]).status !== 0) return null;
  const found = spawnSync('pgrep', ['-f', `ntfs-3g ${image}`], { encoding: 'utf8' }).stdout;
  const pid = Number.parseInt(found, 10);
  onTestFinished(() => {
    process.kill(pid, 'SIGKILL');
    unmount(directory);
  });
  return pid;
}

const HANG_TIMEOUT = '2s';

test('a file system that hangs ends the daemon, which says where', async ({ skip }) => {
  const site = await createSite({
    sources: [{ directory: './docs' }, { directory: './served', name: 'served', keyPrefix: 'served/' }],
    service: { hangTimeout: HANG_TIMEOUT },
  });
  const served = join(site.directory, 'served');
  const server = mountServed(served, join(site.directory, 'image'));
  skip(server === null, NO_MOUNTS);
  site.write('served/a', 'a');
  const daemon = await launch(site);
  expect(remote(site, 'served/a')).toBe('a');
  if (server !== null) process.kill(server, 'SIGSTOP');
  // No signal is heard any more; what ends it is a thread that touches no file system.
  const { code, stderr } = await daemon.ended;
  expect(code).toBeNull();
  expect(daemon.child.signalCode).toBe('SIGKILL');
  expect(stderr.trimEnd().split('\n').at(-1)).toContain(
    `no progress for 2 s, in a file system call on ${served}`,
  );
}, 40_000);

test('a daemon that was stopped for longer than that goes on', async () => {
  const site = await createSite({ service: { hangTimeout: HANG_TIMEOUT } });
  const daemon = await launch(site);
  daemon.child.kill('SIGSTOP');
  await delay(3000);
  daemon.child.kill('SIGCONT');
  daemon.child.kill('SIGTERM');
  const ended: Ended = await daemon.ended;
  expect(ended.code).toBe(0);
  expect(ended.stderr).not.toContain('no progress');
}, 40_000);
