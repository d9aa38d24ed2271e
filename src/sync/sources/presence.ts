import { lstatSync } from 'node:fs';

/**
 * Whether a path that once led to a file still may: `gone` only for certain. A directory in its place means that the
 * file is gone; what cannot be looked at is `unknown`.
 */
export function presenceOf(path: string): 'there' | 'gone' | 'unknown' {
  try {
    return lstatSync(path).isDirectory() ? 'gone' : 'there';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'gone' : 'unknown';
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
