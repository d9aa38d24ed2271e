import { constants, copyFileSync, linkSync } from 'node:fs';

/** What file systems say that know no second name of a file. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Gives a file a second name; where the file system knows of none, a copy. Throws what it says, `EEXIST` where that name is taken. */
export function giveAnotherName(file: string, name: string): void {
  try {
    linkSync(file, name);
  } catch (error) {
    if (!NO_LINKS.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    copyFileSync(file, name, constants.COPYFILE_EXCL);
  }
}
