import type { FilesAtStake } from '../../domain/guard.ts';
import { createHash } from 'crypto';
import type { RemovalMode, FileRecord } from '../../domain/record.ts';
import type { RecordCursor } from '../../store/file-reader.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { isFound } from './presence.ts';
import type { Source } from './source.ts';

/** So many recorded files are looked for where their directory may be another one than before. */
const SAMPLE = 200;

/** A look for some of the recorded files. */
export interface Look {
  readonly looked: number;
  /** Paths of those that are not there. */
  readonly gone: readonly string[];
}

/** Looks for the first recorded files of a source that ought to be there, by default not for all of them. */
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

/** Returns whether more than half of the files that were looked for are gone. */
export function lacksFiles({ looked, gone }: Look): boolean {
  return gone.length * 2 > looked;
}

/** Returns whether a file that is not found was lost: it was there last time, or is still to be removed for going then. */
export function isLost({ absence, state }: FileRecord, removals: RemovalMode): boolean {
  const isToRemove = absence === 'orphan' || (absence === 'removed' && removals !== 'keep');
  return absence === null || (isToRemove && state !== 'removing');
}

/** Returns the mode that a source is checked under: somebody may want files removed that `keep` would leave. */
export function checkedMode(
  source: Source,
  target: number,
  state: StateReader,
  removals: RemovalMode,
): RemovalMode {
  return removals === 'keep' && state.hasAskedRemovals(target, source.config.name) ? 'expire' : removals;
}

/** So many paths are kept of what a halt holds back, for people to look at. */
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
