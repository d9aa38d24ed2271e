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

/** A source's directory as it was found. */
interface CheckedDirectory {
  readonly disk: Disk;
  readonly root: string;
  /** See `identityOf`. */
  readonly identity: string;
}

/**
 * Returns whether a source's directory is still the one that was found. Only then is anything read under its path
 * trusted.
 */
export function isStillThere({ disk, root, identity }: CheckedDirectory): boolean {
  try {
    return isSameDirectory(identityOf(disk.stat(root), true), identity);
  } catch {
    return false;
  }
}

/** Checks whether the directories of sources are still there, once per turn of the event loop for all files. */
export class Roots {
  readonly #checks = new Map<CheckedDirectory, Promise<boolean>>();
  readonly #thisTurn = new Map<CheckedDirectory, boolean>();

  /** Checks at the end of this turn; then everything planned during the turn came from this directory. */
  isThere(source: CheckedDirectory): Promise<boolean> {
    let check = this.#checks.get(source);
    if (check === undefined) {
      check = new Promise((resolve) => {
        setImmediate(() => {
          this.#checks.delete(source);
          resolve(isStillThere(source));
        });
      });
      this.#checks.set(source, check);
    }
    return check;
  }

  /** Checks in this turn; everything opened during the turn comes from this directory. */
  isThereNow(source: CheckedDirectory): boolean {
    if (this.#thisTurn.size === 0)
      setImmediate(() => {
        this.#thisTurn.clear();
      });
    let isThere = this.#thisTurn.get(source);
    if (isThere === undefined) this.#thisTurn.set(source, (isThere = isStillThere(source)));
    return isThere;
  }
}
