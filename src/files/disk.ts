import { lstatSync, opendirSync, statfsSync, statSync, type BigIntStats, type Dir } from 'node:fs';
import type { FactsReader } from '../domain/fingerprint.ts';

/**
 * A port to the file system for looking up and listing names, because file systems differ in it. Throws the file
 * system's errors.
 */
export interface Disk {
  readonly lstat: (path: string) => BigIntStats;
  readonly stat: (path: string) => BigIntStats;
  /** Opens a directory for listing; with `buffer` the names are bytes. */
  readonly openDirectory: (path: string, encoding: 'utf8' | 'buffer') => Dir;
  /** Linux's magic number of the file system that holds a path. */
  readonly fileSystemType: (path: string) => number;
}

const BIGINT = { bigint: true } as const;

const NAMES_AT_ONCE = 1024;

export const DISK: Disk = {
  lstat: (path) => lstatSync(path, BIGINT),
  stat: (path) => statSync(path, BIGINT),
  openDirectory: (path, encoding) =>
    // The type lacks the encoding `buffer`.
    opendirSync(path, { bufferSize: NAMES_AT_ONCE, encoding: encoding as BufferEncoding }),
  fileSystemType: (path) => statfsSync(path).type,
};

/**
 * Linux's magic numbers of file systems that make up inodes at each mount or while mounted, or report the mtime as
 * ctime. See decision 21.
 */
const WITHOUT_STAMPS: ReadonlySet<number> = new Set([
  0x4d44, // FAT
  0x2011bab0, // exFAT
  0x65735546, // FUSE, whatever is behind it
  0x517b, // SMB
  0xff534d42, // CIFS
  0xfe534d42, // SMB 2 and 3
  0x01021997, // 9p
  0x786f4256, // shared folders of VirtualBox
]);

/**
 * Returns a reader that leaves out inode and ctime where the file system does not keep them. Each device is asked once,
 * so a reader must not outlive a change of mounts.
 */
export function factsReader(disk: Disk): FactsReader {
  const known = new Map<bigint, boolean>();
  return (stats, path) => {
    let hasStamps = known.get(stats.dev);
    if (hasStamps === undefined) {
      hasStamps = hasTrueStamps(disk, path);
      known.set(stats.dev, hasStamps);
    }
    return hasStamps ? stats : { size: stats.size, mtimeNs: stats.mtimeNs, ctimeNs: null, ino: null };
  };
}

/** Returns whether inode and ctime are reliable at a path. Assumes so where the file system cannot be determined. */
export function hasTrueStamps(disk: Disk, path: string): boolean {
  try {
    return !WITHOUT_STAMPS.has(disk.fileSystemType(path) >>> 0);
  } catch {
    return true;
  }
}
