import type { BigIntStats } from 'node:fs';
import type { Disk } from '../../files/disk.ts';

/**
 * Returns the identity of a directory: device, inode and, where the file system has it, the time of its creation,
 * because the inode of a deleted directory is soon reused.
 *
 * @param hasInodes - its file system has stable inodes (see `hasTrueStamps`).
 */
export function identityOf({ dev, ino, birthtimeNs }: DirectoryFacts, hasInodes: boolean): string {
  const place = `${dev}:${hasInodes ? ino : ANY_INODE}`;
  if (birthtimeNs === 0n) return place;
  const [seconds, ns] = [birthtimeNs / 1_000_000_000n, birthtimeNs % 1_000_000_000n];
  return `${place}:${Number(seconds) * 1000 + Number(ns) / 1e6}`;
}

type DirectoryFacts = Pick<BigIntStats, 'dev' | 'ino' | 'birthtimeNs'>;

const ANY_INODE = '-';

/** Returns whether two identities may be those of one directory. */
export function isSameDirectory(one: string, other: string): boolean {
  const [dev, ino, madeAt] = one.split(':');
  const [otherDev, otherIno, otherMadeAt] = other.split(':');
  const isSameInode = ino === otherIno || ino === ANY_INODE || otherIno === ANY_INODE;
  if (dev !== otherDev || !isSameInode) return false;
  return madeAt === undefined || otherMadeAt === undefined || madeAt === otherMadeAt;
}

/**
 * Returns whether a source's directory is still the one that was found. Only then is anything read under its path
 * trusted.
 */
export function isStillThere({
  disk,
  root,
  identity,
}: {
  readonly disk: Disk;
  readonly root: string;
  readonly identity: string;
}): boolean {
  try {
    return isSameDirectory(identityOf(disk.stat(root), true), identity);
  } catch {
    return false;
  }
}
