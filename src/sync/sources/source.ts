import { nearest } from '../../config/guess.ts';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { secretReferences } from '../../config/secrets.ts';
import { emulatorDirectory, type Config, type SourceConfig } from '../../config/config.ts';
import { SCHEMA_COPY } from '../../config/find-config.ts';
import { problemOfIgnorePattern } from '../../domain/pattern.ts';
import { canonicalJson } from '../../domain/json.ts';
import { suggestContentType, compileRules, type RuleBook } from '../../domain/rules.ts';
import type { DirectoryFault, MissingHalt, NearestDirectory } from '../../domain/guard.ts';
import { isWithin } from '../../domain/key.ts';
import { DISK, factsReader, hasTrueStamps, type Disk } from '../../files/disk.ts';
import { createFilter, type PathFilter } from '../../files/filter.ts';
import type { SyncTarget } from '../../store/state-reader.ts';
import type { SourceRoot } from '../../files/source-file.ts';
import { identityOf } from './directory-identity.ts';
import { mountsBelow } from './mounts.ts';

/** A source whose directory was found. */
export interface Source extends SourceRoot {
  readonly config: SourceConfig;
  readonly disk: Disk;
  /** Its position in the config: of two files with the same key, the one in the earlier source keeps it. */
  readonly position: number;
  readonly syncTarget: SyncTarget;
  readonly filter: PathFilter;
  /** The patterns of the filter: filters with equal patterns are interchangeable. */
  readonly patterns: string;
  readonly protectedFiles: ReadonlySet<string>;
  readonly rules: RuleBook;
  /** See `identityOf`. */
  readonly identity: string;
  /** Where other file systems are mounted below it, relative to it, without ignored paths. */
  readonly mounts: readonly string[];
}

/** A source, or why it cannot be synced. */
export type FoundSource =
  | { readonly kind: 'found'; readonly config: SourceConfig; readonly source: Source }
  | { readonly kind: 'missing'; readonly config: SourceConfig; readonly halt: MissingHalt };

/** The file in a source's directory with additional patterns. */
export const IGNORE_FILE = '.botsyncignore';

/** Thousands of patterns take a tenth of this. A larger file is no list of patterns, and halts the source. */
const LARGEST_IGNORE_FILE_BYTES = 1_000_000;

/**
 * Checks the directories of all sources, in the order of the config. `platformName`: the platform's name in records.
 */
export function findSources(config: Config, platformName: string, disk = DISK): FoundSource[] {
  return config.sources.map((source, position) => findSource(config, source, position, platformName, disk));
}

export function findSource(
  config: Config,
  source: SourceConfig,
  position: number,
  platformName: string,
  disk = DISK,
): FoundSource {
  const { directory } = source;
  const field = `sources[${position}].directory`;
  try {
    const facts = disk.stat(directory);
    if (!facts.isDirectory()) return missing(source, { kind: 'not-a-directory', field });
    const realRoot = realpathSync.native(directory);
    const ignored = readIgnoreFile(directory);
    if (ignored === 'too-large')
      return missing(source, {
        kind: 'ignore-file-too-large',
        file: IGNORE_FILE,
        maxBytes: LARGEST_IGNORE_FILE_BYTES,
      });
    for (const [at, line] of ignored.entries()) {
      const problem = problemOfIgnorePattern(line);
      if (problem !== null)
        return missing(source, { kind: 'ignore-pattern', file: IGNORE_FILE, line: at + 1, problem });
    }
    const patterns = source.ignore.concat(ignored);
    const filter = createFilter(patterns, protectedPaths(config, directory, realRoot));
    return {
      kind: 'found',
      config: source,
      source: {
        config: source,
        disk,
        factsOf: factsReader(disk),
        position,
        root: directory,
        realRoot,
        symlinks: source.symlinks,
        syncTarget: targetOf(config, source, platformName),
        filter,
        patterns: patterns.join('\n'),
        protectedFiles: protectedIdentities(config),
        rules: compileRules(config.rules, source.name, suggestContentType, config.notify?.announce),
        identity: identityOf(facts, hasTrueStamps(disk, directory)),
        mounts: mountsBelow({ realRoot, filter }),
      },
    };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return missing(
      source,
      code === 'ENOENT' || code === 'ENOTDIR'
        ? { kind: 'not-found', field, nearest: findNearest(directory, disk) }
        : { kind: 'unreadable', field, code },
    );
  }
}

export function targetOf(config: Config, { botId }: SourceConfig, platformName: string): SyncTarget {
  return { baseUrl: platformName, botId, identity: canonicalJson({ ...config.platform.identity }) };
}

function missing(config: SourceConfig, fault: DirectoryFault): FoundSource {
  return { kind: 'missing', config, halt: { kind: 'missing', directory: config.directory, fault } };
}

function readIgnoreFile(directory: string): string[] | 'too-large' {
  let fd: number | null = null;
  try {
    // Anyone who can write to the source may create a FIFO there: opening it would block forever.
    fd = openSync(`${directory}/${IGNORE_FILE}`, constants.O_RDONLY | constants.O_NONBLOCK);
    const facts = fstatSync(fd);
    if (!facts.isFile()) return [];
    if (facts.size > LARGEST_IGNORE_FILE_BYTES) return 'too-large';
    return readFileSync(fd, 'utf8')
      .replace(/^\ufeff/u, '')
      .split(/\r?\n/u);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ENXIO: a socket.
    if (code === 'ENOENT' || code === 'ENXIO') return [];
    throw error;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/**
 * Lists the files that are never synced: the config and its schema, files with secrets, and the state file with the
 * files next to it.
 */
function protectedFiles(config: Config): { readonly whole: readonly string[]; readonly stem: string } {
  const secrets = [...secretReferences(config).map(({ reference }) => reference), config.cluster?.database];
  const schema = join(dirname(config.file), SCHEMA_COPY);
  const whole = [
    config.file,
    schema,
    ...secrets.flatMap((secret) => (secret?.kind === 'file' ? [secret.path] : [])),
  ];
  return { whole, stem: config.stateFile };
}

/** Returns a check for paths of protected files within a source, under all names of the directory and the files. */
function protectedPaths(config: Config, directory: string, realRoot: string): (path: string) => boolean {
  const { whole, stem } = protectedFiles(config);
  const exact = new Set(whole.flatMap((file) => pathsWithin(file, directory, realRoot)));
  const stems = pathsWithin(stem, directory, realRoot);
  const own = pathsWithin(emulatorDirectory(config), directory, realRoot);
  if (exact.size === 0 && stems.length === 0 && own.length === 0) return () => false;
  return (path) =>
    exact.has(path) ||
    stems.some((start) => path.startsWith(start) && COMPANION.test(path.slice(start.length))) ||
    own.some((start) => path === start || path.startsWith(`${start}/`));
}

/** Returns their devices and inodes, if they exist, because a link gives them another name. */
function protectedIdentities(config: Config): ReadonlySet<string> {
  const { whole, stem } = protectedFiles(config);
  const beside = listDirectory(dirname(stem)).map((name) => join(dirname(stem), name));
  const companions = beside.filter(
    (file) => file.startsWith(stem) && COMPANION.test(file.slice(stem.length)),
  );
  return new Set(
    [...whole, ...companions].flatMap((file) => {
      const facts = statSync(file, { bigint: true, throwIfNoEntry: false });
      return facts === undefined ? [] : [`${facts.dev}:${facts.ino}`];
    }),
  );
}

function listDirectory(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/**
 * Endings of files next to the state file: SQLite's files, the lock and its files, the socket, a probe, damaged and
 * imported state files.
 */
const COMPANION =
  /^(?:|-(?:wal|shm|journal)|\.lock(?:-journal|\.json)?|\.socket|\.probe|\.(?:damaged|imported)-.*)$/u;

/** Returns a file's paths within a directory, for all names of both; empty if it is elsewhere. */
function pathsWithin(file: string, directory: string, realRoot: string): string[] {
  return [...new Set([file, realName(file)])].flatMap((name) =>
    [directory, realRoot]
      .filter((root) => name !== root && isWithin(root, name))
      .map((root) => name.slice(root.endsWith('/') ? root.length : root.length + 1)),
  );
}

/** Resolves links in a file's directory. The file itself need not exist. */
function realName(file: string): string {
  try {
    return join(realpathSync.native(dirname(file)), basename(file));
  } catch {
    return file;
  }
}

/** The most names next to a missing directory that are compared with it. */
const MOST_NAMES = 1000;

/**
 * Returns the directory that was probably meant by a missing one, or the nearest existing one above it.
 *
 * @param directory - absolute.
 */
export function findNearest(directory: string, disk: Disk): NearestDirectory {
  const existing = nearestExisting(directory, disk);
  const missing = childOf(existing, directory);
  const meant = nearest(basename(missing), directoriesIn(existing, disk));
  return meant === null
    ? { kind: 'above', path: existing }
    : { kind: 'meant', path: `${join(existing, meant)}${directory.slice(missing.length)}` };
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

/** Returns the part of a path directly below a directory above it. */
function childOf(above: string, path: string): string {
  let child = path;
  while (dirname(child) !== above) child = dirname(child);
  return child;
}

/** Returns the names of directories in a directory, as far as it can be listed. */
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
