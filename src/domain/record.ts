import type { FileKey, RelativePath } from './key.ts';
import type { Fingerprint } from './fingerprint.ts';

/**
 * Where a file stands with the platform:
 * - `sending`: an upsert is about to be sent or was; what the platform holds is unknown until it ends.
 * - `synced`: the platform took the upsert and the store took every byte; what became of it then says the verdict.
 * - `failed`: the last attempt ended without that; it is made again.
 * - `refused`: the platform will not take the file as it is.
 * - `removing`: an empty file that expires was put in its place, or it is being deleted; what was deleted has no record.
 */
export type RecordState = 'sending' | 'synced' | 'failed' | 'refused' | 'removing';

/**
 * What becomes of a record that has no file in its source:
 * - `removed`: the file was deleted, and is to be removed from the platform as `removals.mode` says.
 * - `kept`: it stays there, since the file is newly ignored, or was deleted while `removals.mode` was `keep`, until the file is
 *   back or somebody prunes it.
 * - `pruned`: it was kept, and somebody who saw it listed has it removed, whatever the mode.
 * - `orphan`: it was found on the platform without a record, and somebody has all such files removed, whatever the mode. Nobody
 *   has seen which they are, so they count as removals for the guards.
 */
export type Absence = 'removed' | 'kept' | 'pruned' | 'orphan';

/**
 * The status of a file on the platform for good, by its own word: it has the content, the bot can also search it, or it
 * could not be indexed.
 */
export type Verdict = 'stored' | 'searchable' | 'unsearchable';

/**
 * What the platform was found to have otherwise than it was sent: the content, or only what was told of it; `replaced`:
 * somebody else's file is in its place, and is left alone.
 */
export type Difference = 'content' | 'facts' | 'replaced';

/** What is recorded of one file at one target: a row of the table `file`. Times in epoch milliseconds. */
export interface FileRecord {
  /** The number of the target in the state file. */
  readonly target: number;
  readonly source: string;
  readonly path: RelativePath;
  readonly key: FileKey;
  readonly state: RecordState;
  readonly fingerprint: Fingerprint;
  /** Whether an equal fingerprint proves equal content (see `isTrustworthy`). */
  readonly trusted: boolean;
  /** `settingsDigest` of what was sent. */
  readonly settingsDigest: string;
  readonly expiresAtMs: number | null;
  /** When it is sent again before it expires; `null`: never. */
  readonly renewAtMs: number | null;
  readonly absence: Absence | null;
  /** When the absence was noticed; meaningless without an absence. */
  readonly absentSinceMs: number | null;
  /** Of the content sent last, or of that of an attempt begun since. */
  readonly sizeBytes: number;
  /** Of the bytes that the platform has; `null`: unknown. */
  readonly sha256: Buffer | null;
  /** Whether the platform took, or may have taken, an upsert. */
  readonly uploaded: boolean;
  /** Why the state is `failed` or `refused`, why a removal failed, or why the file could not be indexed. */
  readonly failure: string | null;
  /** When the state changed last. */
  readonly changedAtMs: number;
  /** The platform's id of the file; `null`: unknown. */
  readonly remoteId: string | null;
  /** `null`: unknown. */
  readonly verdict: Verdict | null;
  /** When the store had every byte. */
  readonly sentAtMs: number | null;
  /** When the platform is asked next, or a lost file is sent again; `null`: never. */
  readonly askAtMs: number | null;
  /** When the platform answered last. */
  readonly askedAtMs: number | null;
  /** How often the platform lost this content after the store had taken it. */
  readonly losses: number;
  /** Whether the mark of this content still has to be set. */
  readonly isMarkDue: boolean;
  /** Whether the mark of this content was set. */
  readonly isMarked: boolean;
  /** Digest of the settings that an unfinished change in place may have sent; `null`: there is none. */
  readonly changing: string | null;
  /** The last comparison's result, see `differenceOf`. */
  readonly differs: Difference | null;
}

/** A record of a file whose upload ended: the platform can be asked about it. */
export type SentRecord = FileRecord & {
  readonly remoteId: string;
  readonly sha256: Buffer;
  readonly sentAtMs: number;
};

/**
 * Returns how the file on the platform differs from its record, as far as known. After an unfinished change in place its
 * settings count as different: it is unknown which ones the platform has.
 */
export function differenceOf({
  differs,
  changing,
}: Pick<FileRecord, 'differs' | 'changing'>): Difference | null {
  return differs ?? (changing === null ? null : 'facts');
}

/** What becomes of a removed file on the platform: it is left, an expiring empty file takes its place, or it is deleted. */
export type RemovalMode = 'keep' | 'expire' | 'delete';

/** What is remembered of a file that is not there, as far as its fate depends on it. */
export interface AbsentFile {
  readonly state: RecordState;
  /** Whether the platform ever took an upsert of it, or may have. */
  readonly uploaded: boolean;
  /** Epoch milliseconds. */
  readonly expiresAtMs: number | null;
  /** What was decided before. */
  readonly absence: Absence | null;
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

/** Returns whether somebody wants a file removed whatever the mode. */
export function isAskedFor(absence: Absence | null): absence is 'pruned' | 'orphan' {
  return absence === 'pruned' || absence === 'orphan';
}

/** Decides it. `absence`: why it is not there now; `null` when that is not certain. */
export function fateOf(file: AbsentFile, absence: Absence | null, removals: RemovalMode): Fate {
  if (absence === null) return 'unknown';
  // One that was begun and not answered may have left the file as it was.
  if (file.state === 'removing' && file.expiresAtMs !== null) return 'tombstone';
  const mayBeThere = file.uploaded || file.state === 'sending';
  if (!mayBeThere) return absence === 'kept' ? 'none' : 'forget';
  // An orphan that is ignored here is kept, like any file; what is pruned may be ignored.
  if (file.absence === 'pruned' || (file.absence === 'orphan' && absence !== 'kept')) return 'remove';
  return removals !== 'keep' && absence === 'removed' && file.absence !== 'kept' ? 'remove' : 'keep';
}
