import type { Disk } from './disk.ts';

/**
 * Whether a name that was found may be another spelling of the one that its directory lists: where upper and lower case,
 * or composed and decomposed characters, are not told apart. One look tells as a rule that it is not.
 */
export function mayBeAnother(disk: Disk, directory: string, name: string): boolean {
  return [...respellings(name)].some((other) => {
    try {
      disk.lstat(`${directory}/${other}`);
      return true;
    } catch {
      return false;
    }
  });
}

/** The same name to those who do not tell spellings apart, as far from it as can be. */
function respellings(name: string): string[] {
  const others = new Set([
    name.replace(/[a-z]/giu, swapCase),
    name.replace(/./gsu, swapCase),
    name.normalize('NFC'),
    name.normalize('NFD'),
  ]);
  others.delete(name);
  return [...others];
}

function swapCase(letter: string): string {
  const upper = letter.toUpperCase();
  const other = upper === letter ? letter.toLowerCase() : upper;
  return other.length === letter.length ? other : letter;
}

/** Says whether a directory lists this very name. Throws the file system's error when it cannot be read. */
export type IsListed = (disk: Disk, directory: string, name: string) => boolean;

/** Reads the directory as it is now. */
export const isListed: IsListed = (disk, directory, name) => {
  const bytes = Buffer.from(name);
  return findName(disk, directory, (listed) => listed.equals(bytes)) !== null;
};

/**
 * For names in path order: keeps the names of the directories above the last one, so that each is read once. What it says
 * was so at some moment since it was made.
 */
export function rememberingListings(): IsListed {
  const known = new Map<string, ReadonlySet<string>>();
  return (disk, directory, name) => {
    for (const other of known.keys()) {
      if (other !== directory && !directory.startsWith(`${other}/`)) known.delete(other);
    }
    let names = known.get(directory);
    if (names === undefined) {
      const read = new Set<string>();
      findName(disk, directory, (listed) => {
        read.add(listed.toString('latin1'));
        return false;
      });
      known.set(directory, read);
      names = read;
    }
    return names.has(Buffer.from(name).toString('latin1'));
  };
}

/**
 * Whether a path that leads somewhere leads there under the names that are listed, all the way down from a root. Throws
 * the file system's error when a directory cannot be read.
 */
export function isSpelledAsListed(
  disk: Disk,
  root: string,
  path: string,
  lists: IsListed = isListed,
): boolean {
  let directory = root;
  for (const name of path.split('/')) {
    if (mayBeAnother(disk, directory, name) && !lists(disk, directory, name)) return false;
    directory += `/${name}`;
  }
  return true;
}

/**
 * A path that leads somewhere, in the spelling that is listed; `null` where none is found. Throws the file system's error
 * when a directory cannot be read.
 */
export function asListed(disk: Disk, root: string, path: string): string | null {
  let listed = '';
  for (const name of path.split('/')) {
    const directory = root + listed;
    const isOther = mayBeAnother(disk, directory, name) && !isListed(disk, directory, name);
    const spelled = isOther ? listedSpelling(disk, directory, name) : name;
    if (spelled === null) return null;
    listed += `/${spelled}`;
  }
  return listed.slice(1);
}

/** The name that a directory lists for another spelling of it; `null`: it lists none. */
function listedSpelling(disk: Disk, directory: string, name: string): string | null {
  const folded = fold(name);
  return findName(disk, directory, (listed) => fold(listed.toString()) === folded)?.toString() ?? null;
}

function fold(name: string): string {
  return name.normalize('NFD').toUpperCase().normalize('NFC');
}

function findName(disk: Disk, directory: string, isIt: (name: Buffer) => boolean): Buffer | null {
  const handle = disk.openDirectory(directory, 'buffer');
  try {
    for (let entry = handle.readSync(); entry !== null; entry = handle.readSync()) {
      // Its type does not know of names as bytes.
      const name = entry.name as string | Buffer;
      const bytes = typeof name === 'string' ? Buffer.from(name) : name;
      if (isIt(bytes)) return bytes;
    }
    return null;
  } finally {
    handle.closeSync();
  }
}
