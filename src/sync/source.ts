import { readFileSync, realpathSync, statSync } from 'node:fs';
import type { Config, SourceConfig } from '../config/config.ts';
import { canonicalJson } from '../domain/json.ts';
import { suggestContentType } from '../domain/content-type.ts';
import type { Halt } from '../domain/guard.ts';
import { compileRules, type RuleBook } from '../domain/rules.ts';
import { isWithin } from '../domain/within.ts';
import { createFilter, type PathFilter } from '../scan/filter.ts';
import type { SyncTarget } from '../state/state-reader.ts';
import type { SourceRoot } from '../upload/source-file.ts';

/** A source whose directory was found and looked at. */
export interface Source extends SourceRoot {
  readonly config: SourceConfig;
  /** Its place in the config: of two files with one key, the one in the earlier source keeps it. */
  readonly position: number;
  readonly syncTarget: SyncTarget;
  readonly filter: PathFilter;
  readonly rules: RuleBook;
  /** Device and inode of the directory itself: others may mean that it was replaced. */
  readonly identity: string;
}

/** A source, or why nothing can be done for it. */
export type FoundSource =
  | { readonly kind: 'found'; readonly config: SourceConfig; readonly source: Source }
  | { readonly kind: 'missing'; readonly config: SourceConfig; readonly halt: Halt };

/** The name of the file in a source's directory that holds more patterns. */
const IGNORE_FILE = '.botsyncignore';

/** Looks at the directories of all sources, in the order of the config. `platformName` identifies the platform in records. */
export function findSources(config: Config, platformName: string): FoundSource[] {
  return config.sources.map((source, position) => findSource(config, source, position, platformName));
}

function findSource(
  config: Config,
  source: SourceConfig,
  position: number,
  platformName: string,
): FoundSource {
  const { directory } = source;
  try {
    const facts = statSync(directory);
    if (!facts.isDirectory()) return missing(source, `${directory} is not a directory`);
    const realRoot = realpathSync.native(directory);
    return {
      kind: 'found',
      config: source,
      source: {
        config: source,
        position,
        root: directory,
        realRoot,
        symlinks: source.symlinks,
        syncTarget: targetOf(config, source, platformName),
        filter: createFilter(
          [...source.ignore, ...readIgnoreFile(directory)],
          protectedPaths(config, directory, realRoot),
        ),
        rules: compileRules(config.rules, source.name, suggestContentType),
        identity: `${facts.dev}:${facts.ino}`,
      },
    };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return missing(
      source,
      code === 'ENOENT' ? `${directory} does not exist` : `${directory} cannot be read: ${code}`,
    );
  }
}

/** Where a source's files are kept. */
export function targetOf(config: Config, { botId }: SourceConfig, platformName: string): SyncTarget {
  return { baseUrl: platformName, botId, identity: canonicalJson({ ...config.platform.identity }) };
}

function missing(config: SourceConfig, reason: string): FoundSource {
  return { kind: 'missing', config, halt: { kind: 'missing', reason } };
}

function readIgnoreFile(directory: string): string[] {
  try {
    return readFileSync(`${directory}/${IGNORE_FILE}`, 'utf8').split(/\r?\n/u);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * The paths of a source that are never synced, whatever its patterns say: the config, the state file with all that
 * stands beside it under its name, the emulator's data, and files that hold a secret.
 */
function protectedPaths(config: Config, directory: string, realRoot: string): (path: string) => boolean {
  const secrets = [config.platform.token, config.platform.chat?.userKey];
  const whole = [config.file, ...secrets.flatMap((secret) => (secret?.kind === 'file' ? [secret.path] : []))];
  const exact = new Set(whole.flatMap((file) => relativeTo(file, directory, realRoot)));
  const stems = relativeTo(config.stateFile, directory, realRoot);
  if (exact.size === 0 && stems.length === 0) return () => false;
  return (path) =>
    exact.has(path) || stems.some((stem) => path.startsWith(stem) && COMPANION.test(path.slice(stem.length)));
}

/** What stands beside the state file under its name: SQLite's files, the lock with its own, damaged ones. */
const COMPANION = /^(?:|-(?:wal|shm|journal)|\.lock(?:-journal|\.json)?|\.damaged-.*)$/u;

/** A file's path within a directory, by either of the directory's names; nothing when it lies elsewhere. */
function relativeTo(file: string, directory: string, realRoot: string): string[] {
  return [directory, realRoot]
    .filter((root) => file !== root && isWithin(root, file))
    .map((root) => file.slice(root.endsWith('/') ? root.length : root.length + 1));
}
