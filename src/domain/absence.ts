import type { Absence, RecordState } from './record.ts';

/** What becomes of a removed file on the platform: it is left, an expiring empty file takes its place, or it is deleted. */
export type RemovalMode = 'keep' | 'expire' | 'delete';

/** What is remembered of a file that is not there, as far as its fate depends on it. */
export interface AbsentFile {
  readonly state: RecordState;
  /** Whether the platform ever took an upsert of it, or may have. */
  readonly uploaded: boolean;
  /** Epoch milliseconds. */
  readonly expiresAtMs: number | null;
}

/**
 * What becomes on the platform of a file that has a record and is not there:
 * - `unknown`: it could not be seen, and may be there.
 * - `forget`: nothing of it is there, and it is gone.
 * - `none`: nothing of it is there.
 * - `tombstone`: an empty file that expires is in its place.
 * - `remove`: it is to be let expire, or deleted.
 * - `keep`: it is left alone.
 */
export type Fate = 'unknown' | 'forget' | 'none' | 'tombstone' | 'remove' | 'keep';

/** Decides it. `absence`: why it is not there; `null` when that is not certain. */
export function fateOf(file: AbsentFile, absence: Absence | null, removals: RemovalMode): Fate {
  if (absence === null) return 'unknown';
  // One that was begun and not answered may have left the file as it was.
  if (file.state === 'removing' && file.expiresAtMs !== null) return 'tombstone';
  const mayBeThere = file.uploaded || file.state === 'sending';
  if (!mayBeThere) return absence === 'removed' ? 'forget' : 'none';
  return removals !== 'keep' && absence === 'removed' ? 'remove' : 'keep';
}
