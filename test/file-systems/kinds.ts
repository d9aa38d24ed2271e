import { spawnSync } from 'node:child_process';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { unmount } from '../mounts.ts';

/** A kind of file system, and how one is made and mounted; each function says whether that was possible. */
export interface Kind {
  readonly name: string;
  /** Makes an empty one within a working directory. */
  readonly make: (work: string) => boolean;
  readonly mount: (work: string, on: string) => boolean;
  /** Whether what was written is there once it is mounted again. */
  readonly isKept: boolean;
}

const MEGABYTE = 1_000_000;

const run = (command: string, ...args: readonly string[]): boolean => spawnSync(command, args).status === 0;

const image = (work: string): string => join(work, 'image');

const makeImage =
  (megabytes: number, command: string, ...options: readonly string[]) =>
  (work: string): boolean => {
    writeFileSync(image(work), '');
    truncateSync(image(work), megabytes * MEGABYTE);
    return run(command, ...options, image(work));
  };

const mountImage =
  (type: string, options = 'loop') =>
  (work: string, on: string): boolean =>
    run('mount', '-t', type, '-o', options, image(work), on);

/** Mounts by a program. */
const mountBy =
  (program: string, ...options: readonly string[]) =>
  (work: string, on: string): boolean =>
    run(program, ...options, image(work), on);

const either =
  (...mounts: readonly Kind['mount'][]): Kind['mount'] =>
  (work, on) =>
    mounts.some((mount) => mount(work, on));

const ext4 = makeImage(16, 'mkfs.ext4', '-q');

/** Those that are spoken of in docs/how-to/network-file-systems.md. What a machine has no driver for is mounted by a program, or not at all. */
export const KINDS: readonly Kind[] = [
  {
    name: 'vfat',
    make: makeImage(16, 'mkfs.vfat'),
    mount: mountImage('vfat'),
    isKept: true,
  },
  {
    name: 'exfat',
    make: makeImage(16, 'mkfs.exfat'),
    mount: either(mountImage('exfat'), mountImage('exfat-fuse')),
    isKept: true,
  },
  {
    name: 'ntfs',
    make: makeImage(16, 'mkfs.ntfs', '-F', '-Q', '-q'),
    mount: mountBy('ntfs-3g'),
    isKept: true,
  },
  { name: 'ext4', make: ext4, mount: mountImage('ext4'), isKept: true },
  { name: 'xfs', make: makeImage(320, 'mkfs.xfs', '-q'), mount: mountImage('xfs'), isKept: true },
  {
    name: 'tmpfs',
    make: () => true,
    mount: (_work, on) => run('mount', '-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', on),
    isKept: false,
  },
  {
    name: 'overlay',
    make: (work) => {
      if (!ext4(work)) return false;
      const below = join(work, 'below');
      mkdirSync(below);
      if (!mountImage('ext4')(work, below)) return false;
      onTestFinished(() => {
        unmount(below);
      });
      for (const name of ['lower', 'upper', 'work']) mkdirSync(join(below, name));
      return true;
    },
    mount: (work, on) => {
      const [lower, upper, own] = ['lower', 'upper', 'work'].map((name) => join(work, 'below', name));
      const options = `lowerdir=${lower},upperdir=${upper},workdir=${own}`;
      return run('mount', '-t', 'overlay', '-o', options, 'overlay', on);
    },
    isKept: true,
  },
];
