import type { FilesAtStake } from '../../domain/guard.ts';
import { createHash } from 'crypto';
import { type RemovalMode, type FileRecord, absenceActionOf } from '../../domain/record.ts';
import type { RecordCursor } from '../../store/file-reader.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { isFound, isLeftOut, presenceOf } from './presence.ts';
import type { Source } from './source.ts';
import { fileKey } from '../../domain/key.ts';

/** The number of recorded files that are checked in a directory that may have been replaced. */
const SAMPLE = 200;

/** The result of a check of some recorded files. */
export interface Look {
  readonly looked: number;
  /** Paths of missing files. */
  readonly gone: readonly string[];
}

/** Checks the first recorded files of a source that should exist, by default not all of them. */
export function look(
  source: Source,
  records: RecordCursor,
  isWanted: (record: FileRecord) => boolean,
  most = SAMPLE,
): Look {
  let looked = 0;
  const gone: string[] = [];
  for (let record = records.current; record !== null && looked < most; record = records.current) {
    if (isWanted(record)) {
      looked += 1;
      if (!isFound(source, record.path)) gone.push(record.path);
    }
    records.advance();
  }
  return { looked, gone };
}

/** Returns whether more than half of the checked files are gone. */
export function lacksFiles({ looked, gone }: Look): boolean {
  return gone.length * 2 > looked;
}

/** Returns whether a missing file was lost: it existed at the last pass, or its removal is still due. */
export function isLost({ absence, state }: FileRecord, removals: RemovalMode): boolean {
  const isToRemove = absence === 'orphan' || (absence === 'removed' && removals !== 'keep');
  return absence === null || (isToRemove && state !== 'removing');
}

/** Returns the mode for checks of a source: under `keep`, users may have requested removals. */
export function checkedMode(
  source: Source,
  target: number,
  state: StateReader,
  removals: RemovalMode,
): RemovalMode {
  return removals === 'keep' && state.hasAskedRemovals(target, source.config.name) ? 'expire' : removals;
}

/** The most paths that a halt lists, for users. */
const NAMED = 10;

/** Counts paths, keeps the first of them and digests them all. */
export function filesAtStake(paths: Iterable<string>): FilesAtStake {
  const first: string[] = [];
  const hash = createHash('sha256');
  let count = 0;
  for (const path of paths) {
    count += 1;
    if (first.length < NAMED) first.push(path);
    hash.update(`${path}\0`);
  }
  return { count, first, digest: hash.digest('hex').slice(0, 16) };
}

/** Selects files by their paths in a source. */
export type MatchesPath = (path: string) => boolean;

/**
 * Yields the files of a source that are kept on the platform and may be pruned, in path order. Skips files that exist
 * and are not ignored, unless the platform now has them under another key.
 */
export function* keptFiles(
  source: Source,
  state: StateReader,
  matches: MatchesPath,
): Generator<FileRecord, void> {
  const { name, keyPrefix } = source.config;
  const target = state.targetId(source.syncTarget);
  const cursor = state.records(target, name);
  for (let file = cursor.current; file !== null; file = cursor.current) {
    const { path, key, absence } = file;
    const isKept = absence === 'kept' && absenceActionOf(file, absence, 'keep') === 'keep';
    const isOldKey = fileKey(keyPrefix, path) !== key;
    if (
      isKept &&
      matches(path) &&
      (isOldKey || isLeftOut(source, path) || presenceOf(source, path) === 'gone')
    )
      yield file;
    cursor.advance();
  }
}

/** Returns the digest of a list of kept files. A prune names it, so that no other file is removed. */
export function digestOfKept(files: readonly FileRecord[]): string {
  return filesAtStake(files.map(({ key }) => key)).digest;
}
