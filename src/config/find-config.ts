import { closeSync, existsSync, lstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';

/** The default names of a configuration; the first is the one that is created. */
export const CONFIG_NAMES = ['botsync.config.json', 'botsync.config.jsonc'] as const;

/** The configuration of an installed service, as the units name it. */
export const SERVICE_CONFIG = '/etc/botsync/botsync.config.json';

/** Formats that botsync does not read, by extension. */
const OTHER_FORMATS = new Map([
  ['.yaml', 'YAML'],
  ['.yml', 'YAML'],
  ['.toml', 'TOML'],
  ['.ini', 'INI'],
]);

/** Returns the format that a file's extension means if botsync does not read it; otherwise `null`. */
export function otherFormat(file: string): string | null {
  return OTHER_FORMATS.get(extname(file).toLowerCase()) ?? null;
}

/** The name of the copy of the schema that `init` writes next to a configuration. It is never synced. */
export const SCHEMA_COPY = 'botsync.config.schema.json';

/** The result of the search for a configuration, if none is named. */
export type FoundConfig =
  /** `file` is relative to the directory, `../botsync.config.json`, or that of the service. */
  | { readonly kind: 'found'; readonly file: string; readonly isHere: boolean }
  /** A directory has files with both names. */
  | { readonly kind: 'ambiguous'; readonly directory: string }
  /** The owner of the file may not be trustworthy: the configuration decides where the token is sent. */
  | { readonly kind: 'foreign'; readonly file: string }
  /** Only the service has one, and this user may not read it. */
  | { readonly kind: 'unreadable'; readonly file: string }
  | { readonly kind: 'none' };

/**
 * Looks for a configuration in a directory and those above it, the nearest first, then for that of the service. One
 * from elsewhere must belong to the user or to root. Never throws.
 *
 * @param directory - absolute.
 * @param userId - `null` where users have no numbers.
 * @param serviceConfig - absolute.
 */
export function findConfig(
  directory: string,
  userId: number | null,
  serviceConfig = SERVICE_CONFIG,
): FoundConfig {
  for (let place = directory; ; place = dirname(place)) {
    const isAbove = place !== directory;
    const names = CONFIG_NAMES.filter((name) => isThere(join(place, name), isAbove));
    const [name] = names;
    if (names.length > 1) return { kind: 'ambiguous', directory: place };
    if (name !== undefined) {
      const file = join(place, name);
      return isAbove && !isTrusted(file, userId)
        ? { kind: 'foreign', file }
        : { kind: 'found', file: relative(directory, file), isHere: !isAbove };
    }
    if (dirname(place) === place) return findOfService(serviceConfig, userId);
  }
}

function findOfService(file: string, userId: number | null): FoundConfig {
  try {
    if (!statSync(file).isFile()) return { kind: 'none' };
    closeSync(openSync(file, 'r'));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES'
      ? { kind: 'unreadable', file }
      : { kind: 'none' };
  }
  return isTrusted(file, userId) ? { kind: 'found', file, isHere: false } : { kind: 'foreign', file };
}

/** In the directory itself anything with the name counts, so that its problems are reported. */
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
    // The owner of a link counts as well: paths in the configuration start at the link's directory.
    const owners = [lstatSync(file).uid, statSync(file).uid];
    return userId === null || owners.every((uid) => uid === userId || uid === 0);
  } catch {
    return false;
  }
}

/** Returns a file next to a configuration that has its name but a format that botsync does not read; `null`: none. */
export function otherFormatBeside(file: string): string | null {
  const stem = join(dirname(file), basename(file, extname(file)));
  return (
    [...OTHER_FORMATS.keys()].map((extension) => stem + extension).find((one) => existsSync(one)) ?? null
  );
}

/** Says what to do about a configuration file that does not exist. */
export function describeAbsence(file: string): string {
  const stem = join(dirname(file), basename(file, extname(file)));
  const other = otherFormatBeside(file);
  if (other !== null)
    return `file not found, and botsync does not read ${otherFormat(other) ?? ''} (${basename(other)}); write the configuration as JSON, which may have comments (botsync init writes one)`;
  const twin = ['.json', '.jsonc'].map((extension) => stem + extension).find((one) => existsSync(one));
  if (twin !== undefined) return `file not found; did you mean ${twin}?`;
  const isDefault = file === CONFIG_NAMES[0];
  return `file not found${isDefault ? `, here, in a directory above or in ${dirname(SERVICE_CONFIG)}` : ''}; name the configuration with --config or $BOTSYNC_CONFIG, or create one: botsync init`;
}

/** Says what to name instead of a directory. */
export function describeDirectory(directory: string): string {
  const name = CONFIG_NAMES.find((one) => existsSync(join(directory, one)));
  return name === undefined
    ? `is a directory without a ${CONFIG_NAMES[0]}; name the configuration file itself`
    : `is a directory; name the file in it: ${join(directory, name)}`;
}

/** A field `stateFile`, even in a text that is not JSON. */
const FIELD = /"stateFile"\s*:\s*("(?:[^"\\\n]|\\.)*")/gu;

/** Returns the possible state files of a configuration that cannot be loaded, the default last. Never throws. */
export function guessStateFiles(configFile: string): string[] {
  const path = resolve(configFile);
  const named = [...textOf(path).matchAll(FIELD)].flatMap(([, literal = '""']) => nameIn(literal));
  return [...named, '.botsync/state.db'].map((name) => resolve(dirname(path), name));
}

function nameIn(literal: string): string[] {
  try {
    return [String(JSON.parse(literal))];
  } catch {
    return [];
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
