import { accessSync, constants } from 'node:fs';
import { asListed, isListed, isSpelledAsListed } from '../../files/spelling.ts';
import type { Source } from './source.ts';
import type { PathLook } from '../../domain/hint.ts';

/** Where a path of a source is looked for. */
type SourceLookup = Pick<Source, 'disk' | 'root'>;

/**
 * Whether a path that once led to a file still may: `gone` only for certain. A directory in its place means that the
 * file is gone, and so does another spelling of its name, where the file system finds the file under both; what cannot be
 * checked is `unknown`.
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

/** Whether a path leads to anything but a directory, in whatever spelling. */
export function isFound({ disk, root }: SourceLookup, path: string): boolean {
  try {
    return !disk.lstat(`${root}/${path}`).isDirectory();
  } catch {
    return false;
  }
}

/**
 * How a path of a source is listed, where that is otherwise: what happens to a file is told under the name that it was
 * opened by. `null`: it is listed so, or leads nowhere.
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

/** Whether a path that once led to a file may still lead to one that is sent. */
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

/** Whether the configuration leaves a path out, whatever is there. */
export function isLeftOut(source: Source, path: string): boolean {
  return source.filter.ignoresFile(path) || (source.symlinks === 'skip' && isBehindLink(source, path));
}

/** Whether a directory above a path is a symbolic link: then the path is not the one that a scan without links would walk. */
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

/** Why a file cannot be read by this user; `null` when it can. */
export function whyUnreadable({ root }: Pick<Source, 'root'>, path: string): string | null {
  try {
    accessSync(`${root}/${path}`, constants.R_OK);
    return null;
  } catch (error) {
    return `cannot be read: ${(error as NodeJS.ErrnoException).code ?? ''}`;
  }
}

/** How a path of a source looks now; `null`: that cannot be seen. */
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
