import { accessSync, constants } from 'node:fs';
import { asListed, isListed, isSpelledAsListed } from '../../files/spelling.ts';
import type { Source } from './source.ts';
import type { PathLook } from '../../domain/hint.ts';
import type { PathFault } from '../../domain/obstacle.ts';

type SourceLookup = Pick<Source, 'disk' | 'root'>;

/**
 * Returns whether a recorded path may still lead to a file: `gone` only if certain, `unknown` if it cannot be checked.
 * The file is also gone if a directory is in its place, or if its name is now spelled differently on a file system that
 * finds both spellings.
 */
export function presenceOf(
  { disk, root }: SourceLookup,
  path: string,
  lists = isListed,
): 'there' | 'gone' | 'unknown' {
  try {
    if (disk.lstat(`${root}/${path}`).isDirectory()) return 'gone';
    return isSpelledAsListed(disk, root, path, lists) ? 'there' : 'gone';
  } catch (error) {
    return isGone(error) ? 'gone' : 'unknown';
  }
}

/** Returns whether a path in any spelling leads to anything but a directory. */
export function isFound({ disk, root }: SourceLookup, path: string): boolean {
  try {
    return !disk.lstat(`${root}/${path}`).isDirectory();
  } catch {
    return false;
  }
}

/**
 * Returns a path as its directory lists it, if that differs: events name a file as it was opened. `null`: it does not
 * differ, or leads nowhere.
 */
export function otherSpellingOf({ disk, root }: SourceLookup, path: string): string | null {
  try {
    disk.lstat(`${root}/${path}`);
    const listed = asListed(disk, root, path);
    return listed === path ? null : listed;
  } catch {
    return null;
  }
}

function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Returns whether a recorded path may still lead to a file that is sent. */
export function mayBeSent(
  { disk, root, symlinks }: SourceLookup & Pick<Source, 'symlinks'>,
  path: string,
): boolean {
  try {
    const facts = disk.lstat(`${root}/${path}`);
    if (!isSpelledAsListed(disk, root, path)) return false;
    if (symlinks !== 'skip') return facts.isFile() || facts.isSymbolicLink();
    return facts.isFile() && !isBehindLink({ disk, root }, path);
  } catch (error) {
    return !isGone(error);
  }
}

/** Returns whether the configuration excludes a path, whatever is there. */
export function isLeftOut(source: Source, path: string): boolean {
  return source.filter.ignoresFile(path) || (source.symlinks === 'skip' && isBehindLink(source, path));
}

/** Returns whether a directory above a path is a symbolic link: a scan that skips links does not reach such a path. */
export function isBehindLink({ disk, root }: SourceLookup, path: string): boolean {
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    try {
      if (disk.lstat(`${root}/${path.slice(0, slash)}`).isSymbolicLink()) return true;
    } catch {
      return false;
    }
  }
  return false;
}

/** Returns why this user cannot read a file; `null` if they can. */
export function whyUnreadable({ root }: Pick<Source, 'root'>, path: string): PathFault | null {
  try {
    accessSync(`${root}/${path}`, constants.R_OK);
    return null;
  } catch (error) {
    return { kind: 'unreadable', code: (error as NodeJS.ErrnoException).code ?? '' };
  }
}

/** Returns how a path of a source looks now; `null`: it cannot be checked. */
export function lookAtPath({ disk, root }: Pick<Source, 'disk' | 'root'>, path: string): PathLook | null {
  try {
    const facts = disk.lstat(`${root}/${path}`);
    if (facts.isDirectory()) return { kind: 'directory', mtimeNs: facts.mtimeNs };
    const kind = facts.isFile() ? 'file' : facts.isSymbolicLink() ? 'link' : null;
    return kind === null ? { kind: 'other' } : { kind, sizeBytes: facts.size, mtimeNs: facts.mtimeNs };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return code === 'ENOENT' || code === 'ENOTDIR' ? { kind: 'absent' } : null;
  }
}
