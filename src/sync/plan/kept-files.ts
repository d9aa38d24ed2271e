import { absenceActionOf, type FileRecord } from '../../domain/record.ts';
import { fileKey } from '../../domain/key.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { filesAtStake } from '../sources/recorded-files.ts';
import { isLeftOut, presenceOf } from '../sources/presence.ts';
import type { Source } from '../sources/source.ts';

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
