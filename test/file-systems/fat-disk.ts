import { lstatSync, readdirSync, statSync, type BigIntStats, type Dir } from 'node:fs';
import { DISK, type Disk } from '../../src/files/disk.ts';

const TICK_NS = 2_000_000_000n;

/**
 * A disk that has a directory of the machine's look as if it lay on FAT: names are found in any case and in any
 * normalization, times are whole ticks of two seconds, there is no ctime, and inodes are new at every mount.
 */
export class FatDisk implements Disk {
  readonly #root: string;
  readonly #inodes = new Map<bigint, bigint>();
  #mounts = 1n;
  /** Directories that were opened. */
  opened = 0;

  constructor(root: string) {
    this.#root = root;
  }

  /** As if it had been taken away and mounted again. */
  remount(): void {
    this.#mounts += 1n;
    this.#inodes.clear();
  }

  readonly lstat = (path: string): BigIntStats => this.#asOnFat(path, lstatSync(this.#found(path), BIGINT));
  readonly stat = (path: string): BigIntStats => this.#asOnFat(path, statSync(this.#found(path), BIGINT));
  readonly openDirectory = (path: string, encoding: 'utf8' | 'buffer'): Dir => {
    this.opened += 1;
    return DISK.openDirectory(this.#found(path), encoding);
  };
  readonly fileSystemType = (path: string): number =>
    this.#isOwn(path) ? 0x4d44 : DISK.fileSystemType(path);

  #isOwn(path: string): boolean {
    return path === this.#root || path.startsWith(`${this.#root}/`);
  }

  #found(path: string): string {
    if (!this.#isOwn(path)) return path;
    const names = path.slice(this.#root.length + 1).split('/');
    return names.reduce((directory, name) => `${directory}/${findIn(directory, name)}`, this.#root);
  }

  #asOnFat(path: string, stats: BigIntStats): BigIntStats {
    if (!this.#isOwn(path)) return stats;
    const { ino, mtimeNs } = stats;
    const made = this.#inodes.get(ino) ?? this.#mounts * 1_000_000n + BigInt(this.#inodes.size);
    this.#inodes.set(ino, made);
    const stamp = mtimeNs - (mtimeNs % TICK_NS);
    // It keeps its methods.
    return Object.assign(stats, {
      dev: 9_000n + this.#mounts,
      ino: made,
      mtimeNs: stamp,
      ctimeNs: stamp,
      birthtimeNs: 0n,
    });
  }
}

const BIGINT = { bigint: true } as const;

function findIn(directory: string, name: string): string {
  const folded = fold(name);
  try {
    const names = readdirSync(directory);
    return names.includes(name) ? name : (names.find((one) => fold(one) === folded) ?? name);
  } catch {
    return name;
  }
}

function fold(name: string): string {
  return name.normalize('NFC').toLowerCase();
}
