import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';

/** Why a test that needs a mount is skipped. */
export const NO_MOUNTS = 'only root may mount, and not everywhere';

/** Mounts a small file system in memory on a directory, which is made; false where that is not allowed. It goes with the test. */
export function mountSmall(directory: string, size: string): boolean {
  mkdirSync(directory, { recursive: true });
  return mount(directory, ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory]);
}

/** Leaves no room on a small file system; returns the names of what takes it, a page each. */
export function fill(directory: string): string[] {
  const names: string[] = [];
  for (;;) {
    const name = `ballast-${names.length}`;
    try {
      writeFileSync(join(directory, name), Buffer.alloc(4096));
      names.push(name);
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
      return names;
    }
  }
}

/** Makes a file or directory read-only for everyone, root too; false where that is not allowed. It ends with the test. */
export function bindReadOnly(path: string): boolean {
  return mount(path, ['--bind', path, path]) && run(['-o', 'remount,bind,ro', path]);
}

/** Mounts a directory on another one as well; false where that is not allowed. It ends with the test. */
export function bind(path: string, on: string): boolean {
  return mount(on, ['--bind', path, on]);
}

/** Mounts an empty file system over a directory; false where that is not allowed. Whoever calls this unmounts it. */
export function coverWithNothing(directory: string): boolean {
  return run(['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', directory]);
}

/**
 * Mounts a file system on a directory that answers nothing, as a share whose server is gone; `null` where that is not allowed. Whoever
 * looks at the directory waits, which takes a thread, until the mount is given up by what this returns, or with the test.
 */
export function mountHanging(directory: string): (() => void) | null {
  const device = openDevice();
  if (device === null) return null;
  // What the kernel asks of whoever serves the file system stands in the device: nobody reads it.
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0';
  const args = ['-i', '-t', 'fuse', '-o', options, 'fuse', directory];
  const { status } = spawnSync('mount', args, { stdio: ['ignore', 'ignore', 'ignore', device] });
  let isOpen = true;
  const giveUp = (): void => {
    if (!isOpen) return;
    isOpen = false;
    closeSync(device);
    if (status === 0) unmount(directory);
  };
  if (status === 0) onTestFinished(giveUp);
  else giveUp();
  return status === 0 ? giveUp : null;
}

function openDevice(): number | null {
  try {
    return openSync('/dev/fuse', 'r+');
  } catch {
    return null;
  }
}

/** Takes a mount away before the test ends. */
export function unmount(path: string): void {
  // A database that was not closed in time would keep it busy.
  spawnSync('umount', ['--lazy', path]);
}

function mount(path: string, args: readonly string[]): boolean {
  if (!run(args)) return false;
  onTestFinished(() => {
    unmount(path);
  });
  return true;
}

function run(args: readonly string[]): boolean {
  return spawnSync('mount', args).status === 0;
}
