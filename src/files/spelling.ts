import type { Disk } from './disk.ts';

/**
 * Returns whether a name that was found may be spelled differently in its directory's listing, as on file systems that
 * ignore case or Unicode normalization. In most cases a single lookup of another spelling rules that out.
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

/** Returns spellings that such a file system takes for the same name, as different from it as possible. */
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

/**
 * Returns whether a directory lists exactly this name. Throws the file system's error if the directory cannot be read.
 */
export type IsListed = (disk: Disk, directory: string, name: string) => boolean;

/** Reads the directory each time. */
export const isListed: IsListed = (disk, directory, name) => {
  const bytes = Buffer.from(name);
  return findName(disk, directory, (listed) => listed.equals(bytes)) !== null;
};

/**
 * Returns an `IsListed` for names in path order, which reads each directory once: it keeps the listings of the
 * directories above the last name. An answer may be as old as the function.
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
 * Returns whether an existing path is spelled as listed, in every directory from the root down. Throws the file
 * system's error if a directory cannot be read.
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
 * Returns an existing path as it is spelled in the listings; `null` if it is listed nowhere. Throws the file system's
 * error if a directory cannot be read.
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

/** Returns the listed spelling of a name; `null` if no spelling of it is listed. */
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
      // The type lacks names as bytes.
      const name = entry.name as string | Buffer;
      const bytes = typeof name === 'string' ? Buffer.from(name) : name;
      if (isIt(bytes)) return bytes;
    }
    return null;
  } finally {
    handle.closeSync();
  }
}
