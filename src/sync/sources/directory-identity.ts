import type { BigIntStats } from 'node:fs';
import type { Disk } from '../../files/disk.ts';

/**
 * What a directory is recognised by when its name leads to it again: device, inode and, where the file system tells,
 * the moment it was made, since the inode of a removed directory soon is another's.
 *
 * @param hasInodes - whether its file system has inodes that stay (see `hasTrueStamps`).
 */
export function identityOf({ dev, ino, birthtimeNs }: DirectoryFacts, hasInodes: boolean): string {
  const place = `${dev}:${hasInodes ? ino : ANY_INODE}`;
  if (birthtimeNs === 0n) return place;
  const [seconds, ns] = [birthtimeNs / 1_000_000_000n, birthtimeNs % 1_000_000_000n];
  return `${place}:${Number(seconds) * 1000 + Number(ns) / 1e6}`;
}

type DirectoryFacts = Pick<BigIntStats, 'dev' | 'ino' | 'birthtimeNs'>;

const ANY_INODE = '-';

/** Whether two identities may be those of one directory. */
export function isSameDirectory(one: string, other: string): boolean {
  const [dev, ino, madeAt] = one.split(':');
  const [otherDev, otherIno, otherMadeAt] = other.split(':');
  const isSameInode = ino === otherIno || ino === ANY_INODE || otherIno === ANY_INODE;
  if (dev !== otherDev || !isSameInode) return false;
  return madeAt === undefined || otherMadeAt === undefined || madeAt === otherMadeAt;
}

/** Whether a source's directory still is the one that was found: what is read under its name is believed only then. */
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
