import type { FileKey, RelativePath } from './key.ts';
import type { Fingerprint } from './fingerprint.ts';

/**
 * State of a file on the platform:
 * - `sending`: an upsert was sent or is about to be; the platform's content is unknown until it ends.
 * - `synced`: the platform accepted the upsert and the store received every byte; the verdict says what followed.
 * - `failed`: the last attempt failed and will be retried.
 * - `refused`: the platform does not accept the file as it is.
 * - `removing`: an expiring empty file replaces it, or it is being deleted; a deleted file has no record.
 */
export type RecordState = 'sending' | 'synced' | 'failed' | 'refused' | 'removing';

/**
 * The treatment of a record whose file is not in its source:
 * - `removed`: the file was deleted; it is removed from the platform as `removals.mode` says.
 * - `kept`: the platform keeps it until the file is back or somebody prunes it, because the file is newly ignored, or was deleted
 *   while `removals.mode` was `keep`.
 * - `pruned`: it was kept, and somebody who saw it in a list has it removed, whatever the mode.
 * - `orphan`: it was found on the platform without a record, and somebody has all such files removed, whatever the mode. Nobody
 *   has seen their list, so the guards count them as removals.
 */
export type Absence = 'removed' | 'kept' | 'pruned' | 'orphan';

/** The final status of a file, confirmed by the platform: it has the content, the bot can also search it, or indexing failed. */
export type Verdict = 'stored' | 'searchable' | 'unsearchable';

/**
 * A difference between the platform's file and what was sent: in the content, or only in settings; `replaced`: somebody else's
 * file is in its place, and is left alone.
 */
export type Difference = 'content' | 'facts' | 'replaced';

/** The record of one file at one target: a row of the table `file`. Times in epoch milliseconds. */
export interface FileRecord {
  /** The number of the target in the state file. */
  readonly target: number;
  readonly source: string;
  readonly path: RelativePath;
  readonly key: FileKey;
  readonly state: RecordState;
  readonly fingerprint: Fingerprint;
  /** An equal fingerprint proves equal content (see `isTrustworthy`). */
  readonly trusted: boolean;
  /** `settingsDigest` of what was sent. */
  readonly settingsDigest: string;
  readonly expiresAtMs: number | null;
  /** When it is renewed, before it expires; `null`: never. */
  readonly renewAtMs: number | null;
  readonly absence: Absence | null;
  /** When the absence was noticed; meaningless without an absence. */
  readonly absentSinceMs: number | null;
  /** Of the content sent last, or of an attempt that began after that. */
  readonly sizeBytes: number;
  /** Of the platform's content; `null`: unknown. */
  readonly sha256: Buffer | null;
  /** The platform accepted, or may have accepted, an upsert. */
  readonly uploaded: boolean;
  /** Why the state is `failed` or `refused`, why a removal failed, or why the file could not be indexed. */
  readonly failure: string | null;
  /** When the state last changed. */
  readonly changedAtMs: number;
  /** `null`: unknown. */
  readonly remoteId: string | null;
  /** `null`: unknown. */
  readonly verdict: Verdict | null;
  /** When the store had received every byte. */
  readonly sentAtMs: number | null;
  /** When the platform is asked next, or a lost file is sent again; `null`: never. */
  readonly askAtMs: number | null;
  /** When the platform last answered. */
  readonly askedAtMs: number | null;
  /** Number of times that the platform lost this content after its store had received it. */
  readonly losses: number;
  /** The mark of this content still has to be set. */
  readonly isMarkDue: boolean;
  /** The mark of this content was set. */
  readonly isMarked: boolean;
  /** Digest of the settings that an unfinished change in place may have sent; `null`: there is none. */
  readonly changing: string | null;
  /** The last comparison's result, see `differenceOf`. */
  readonly differs: Difference | null;
}

/** The record of a finished upload, whose status the platform can be asked for. */
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

/** The treatment of removed files on the platform: kept, replaced by an expiring empty file, or deleted. */
export type RemovalMode = 'keep' | 'expire' | 'delete';

export interface AbsentFile {
  readonly state: RecordState;
  readonly uploaded: boolean;
  /** Epoch milliseconds. */
  readonly expiresAtMs: number | null;
  readonly absence: Absence | null;
}

/**
 * The action on the platform for a recorded file that is absent:
 * - `unknown`: it could not be checked, and may exist.
 * - `forget`: nothing is on the platform; the record is dropped.
 * - `none`: nothing is on the platform; the record stays.
 * - `tombstone`: an expiring empty file is in its place.
 * - `remove`: it will expire or be deleted.
 * - `keep`: it is left alone.
 */
export type AbsenceAction = 'unknown' | 'forget' | 'none' | 'tombstone' | 'remove' | 'keep';

export function isAskedFor(absence: Absence | null): absence is 'pruned' | 'orphan' {
  return absence === 'pruned' || absence === 'orphan';
}

/** Returns the action on the platform for an absent file. `absence`: why it is absent now; `null`: not certain. */
export function absenceActionOf(
  file: AbsentFile,
  absence: Absence | null,
  removals: RemovalMode,
): AbsenceAction {
  if (absence === null) return 'unknown';
  // Without an expiry, the removal was started and not answered: the file may be as it was.
  if (file.state === 'removing' && file.expiresAtMs !== null) return 'tombstone';
  const mayBeThere = file.uploaded || file.state === 'sending';
  if (!mayBeThere) return absence === 'kept' ? 'none' : 'forget';
  // An orphan that is ignored here is kept, like any file; a pruned file may be ignored.
  if (file.absence === 'pruned' || (file.absence === 'orphan' && absence !== 'kept')) return 'remove';
  return removals !== 'keep' && absence === 'removed' && file.absence !== 'kept' ? 'remove' : 'keep';
}
