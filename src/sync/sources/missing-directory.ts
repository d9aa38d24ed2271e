import { basename, dirname, join } from 'node:path';
import { nearest } from '../../config/describe-issue.ts';
import type { Disk } from '../../scan/disk.ts';

/** So many names beside a missing directory are looked at for the one that was meant. */
const MOST_NAMES = 1000;

/**
 * What there is in place of a directory that does not exist, in words: one whose name was probably meant, or the nearest
 * above it that exists.
 *
 * @param directory - absolute.
 */
export function describeNearest(directory: string, disk: Disk): string {
  const existing = nearestExisting(directory, disk);
  const missing = childOf(existing, directory);
  const meant = nearest(basename(missing), directoriesIn(existing, disk));
  return meant === null
    ? `the nearest directory that exists is ${existing}`
    : `did you mean ${join(existing, meant)}${directory.slice(missing.length)}?`;
}

function nearestExisting(directory: string, disk: Disk): string {
  for (let above = dirname(directory); ; above = dirname(above))
    if (dirname(above) === above || isDirectory(above, disk)) return above;
}

function isDirectory(path: string, disk: Disk): boolean {
  try {
    return disk.stat(path).isDirectory();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return false;
  }
}

/** The part of a path that lies directly in a directory above it. */
function childOf(above: string, path: string): string {
  let child = path;
  while (dirname(child) !== above) child = dirname(child);
  return child;
}

/** The names of directories in a directory, as far as it can be listed. */
function directoriesIn(directory: string, disk: Disk): string[] {
  const names: string[] = [];
  try {
    const handle = disk.openDirectory(directory, 'utf8');
    try {
      for (let seen = 0, entry = handle.readSync(); entry !== null && seen < MOST_NAMES; seen += 1) {
        if (entry.isDirectory()) names.push(entry.name);
        entry = handle.readSync();
      }
    } finally {
      handle.closeSync();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
  return names;
}
