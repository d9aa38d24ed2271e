import { existsSync, lstatSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';
import { OTHER_FORMATS, otherFormat } from './file-name.ts';

/** The names of a configuration that is looked for; the first is the one that is written. */
export const CONFIG_NAMES = ['botsync.config.json', 'botsync.config.jsonc'] as const;

/** The configuration of a directory, as it is found where none is named. */
export type FoundConfig =
  /** As it is named from the directory: `../botsync.config.json`. */
  | { readonly kind: 'found'; readonly file: string; readonly isAbove: boolean }
  /** A directory has both. */
  | { readonly kind: 'ambiguous'; readonly directory: string }
  /** Whoever owns it might not be trusted with the token: it chooses where that is sent. */
  | { readonly kind: 'foreign'; readonly file: string }
  | { readonly kind: 'none' };

/**
 * Looks for a configuration in a directory and those above it; the nearest is taken. One from above has to belong to the
 * user, or to root. Throws nothing.
 *
 * @param directory - absolute.
 * @param userId - `null` where users have no numbers.
 */
export function findConfig(directory: string, userId: number | null): FoundConfig {
  for (let place = directory; ; place = dirname(place)) {
    const isAbove = place !== directory;
    const names = CONFIG_NAMES.filter((name) => isThere(join(place, name), isAbove));
    const [name] = names;
    if (names.length > 1) return { kind: 'ambiguous', directory: place };
    if (name !== undefined) {
      const file = join(place, name);
      return isAbove && !isTrusted(file, userId)
        ? { kind: 'foreign', file }
        : { kind: 'found', file: relative(directory, file), isAbove };
    }
    if (dirname(place) === place) return { kind: 'none' };
  }
}

/** In the directory itself whatever has the name is taken, so that what is wrong with it is told. */
function isThere(file: string, isAbove: boolean): boolean {
  if (!isAbove) return existsSync(file);
  try {
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function isTrusted(file: string, userId: number | null): boolean {
  try {
    // Of a link its owner counts as well: paths in the configuration start where the link is.
    const owners = [lstatSync(file).uid, statSync(file).uid];
    return userId === null || owners.every((uid) => uid === userId || uid === 0);
  } catch {
    return false;
  }
}

/** A file beside a configuration, with its name but of a format that botsync does not read; `null`: there is none. */
export function otherFormatBeside(file: string): string | null {
  const stem = join(dirname(file), basename(file, extname(file)));
  return (
    [...OTHER_FORMATS.keys()].map((extension) => stem + extension).find((one) => existsSync(one)) ?? null
  );
}

/** What to do about a configuration file that does not exist, in words. */
export function describeAbsence(file: string): string {
  const stem = join(dirname(file), basename(file, extname(file)));
  const other = otherFormatBeside(file);
  if (other !== null)
    return `file not found, and botsync does not read ${otherFormat(other) ?? ''} (${basename(other)}); write the configuration as JSON, which may have comments (botsync init writes one)`;
  const twin = ['.json', '.jsonc'].map((extension) => stem + extension).find((one) => existsSync(one));
  if (twin !== undefined) return `file not found; did you mean ${twin}?`;
  const isDefault = file === CONFIG_NAMES[0];
  return `file not found${isDefault ? ', here or in a directory above' : ''}; name the configuration with --config or $BOTSYNC_CONFIG, or create one: botsync init`;
}

/** What to name in place of a directory, in words. */
export function describeDirectory(directory: string): string {
  const name = CONFIG_NAMES.find((one) => existsSync(join(directory, one)));
  return name === undefined
    ? `is a directory without a ${CONFIG_NAMES[0]}; name the configuration file itself`
    : `is a directory; name the file in it: ${join(directory, name)}`;
}
