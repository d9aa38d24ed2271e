import { statSync, type Stats } from 'node:fs';

/**
 * What a directory is recognised by when its name leads to it again: device, inode and, where the file system tells,
 * the moment it was made, since the inode of a removed directory soon is another's.
 */
export function identityOf({ dev, ino, birthtimeMs }: Stats): string {
  return birthtimeMs === 0 ? `${dev}:${ino}` : `${dev}:${ino}:${birthtimeMs}`;
}

/** Whether two identities may be those of one directory. */
export function isSameDirectory(one: string, other: string): boolean {
  const [dev, ino, madeAt] = one.split(':');
  const [otherDev, otherIno, otherMadeAt] = other.split(':');
  if (dev !== otherDev || ino !== otherIno) return false;
  return madeAt === undefined || otherMadeAt === undefined || madeAt === otherMadeAt;
}

/** Whether a source's directory still is the one that was found: what is read under its name is believed only then. */
export function isStillThere({
  root,
  identity,
}: {
  readonly root: string;
  readonly identity: string;
}): boolean {
  try {
    return isSameDirectory(identityOf(statSync(root)), identity);
  } catch {
    return false;
  }
}
