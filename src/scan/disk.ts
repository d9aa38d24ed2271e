import { lstatSync, opendirSync, statfsSync, statSync, type BigIntStats, type Dir } from 'node:fs';
import type { FactsReader } from '../domain/fingerprint.ts';

/** How names are looked up and read. File systems differ in it, so it arrives as a port. Throws the file system's errors. */
export interface Disk {
  readonly lstat: (path: string) => BigIntStats;
  readonly stat: (path: string) => BigIntStats;
  /** Opens a directory for listing; with `buffer` its names come as bytes. */
  readonly openDirectory: (path: string, encoding: 'utf8' | 'buffer') => Dir;
  /** The number by which the system knows the kind of file system that holds a path. */
  readonly fileSystemType: (path: string) => number;
}

const BIGINT = { bigint: true } as const;

/** How many names are read at a time. */
const NAMES_AT_ONCE = 1024;

/** The system's own. */
export const DISK: Disk = {
  lstat: (path) => lstatSync(path, BIGINT),
  stat: (path) => statSync(path, BIGINT),
  openDirectory: (path, encoding) =>
    // Its type does not know that names can be had as bytes.
    opendirSync(path, { bufferSize: NAMES_AT_ONCE, encoding: encoding as BufferEncoding }),
  fileSystemType: (path) => statfsSync(path).type,
};

/**
 * File systems, by Linux's numbers, that make up inodes at each mount or while they are mounted, or have no ctime of their
 * own: what they give for one is the mtime. See decision 21.
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
 * Reads of a file's facts what means something on its file system, which is asked once for each device: no longer than
 * mounts stay as they are.
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

/** Whether inode and ctime mean something where a path lies. Where that is not told they are taken to. */
export function hasTrueStamps(disk: Disk, path: string): boolean {
  try {
    return !WITHOUT_STAMPS.has(disk.fileSystemType(path) >>> 0);
  } catch {
    return true;
  }
}
