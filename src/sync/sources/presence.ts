import { accessSync, constants, lstatSync } from 'node:fs';
import type { Source } from './source.ts';

/**
 * Whether a path that once led to a file still may: `gone` only for certain. A directory in its place means that the
 * file is gone; what cannot be looked at is `unknown`.
 */
export function presenceOf(path: string): 'there' | 'gone' | 'unknown' {
  try {
    return lstatSync(path).isDirectory() ? 'gone' : 'there';
  } catch (error) {
    return isGone(error) ? 'gone' : 'unknown';
  }
}

function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Whether a path that once led to a file may still lead to one that is sent. */
export function mayBeSent({ root, symlinks }: Pick<Source, 'root' | 'symlinks'>, path: string): boolean {
  try {
    const facts = lstatSync(`${root}/${path}`);
    if (symlinks !== 'skip') return facts.isFile() || facts.isSymbolicLink();
    return facts.isFile() && !isBehindLink(root, path);
  } catch (error) {
    return !isGone(error);
  }
}

/** Whether a directory above a path is a symbolic link: then the path is not the one that a scan without links would walk. */
export function isBehindLink(root: string, path: string): boolean {
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    try {
      if (lstatSync(`${root}/${path.slice(0, slash)}`).isSymbolicLink()) return true;
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
