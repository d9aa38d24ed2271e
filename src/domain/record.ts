import type { FileKey, RelativePath } from './brands.ts';
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
 * Why a record has no file in its source: the file was removed, or it is not botsync's affair any more (newly ignored,
 * set aside by a rule, or under another key since the prefix changed) and is left alone on the platform.
 */
export type Absence = 'removed' | 'set-aside';

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

/** What is remembered of one file, as far as a decision needs it. */
export interface FileRecord {
  readonly path: RelativePath;
  readonly key: FileKey;
  readonly state: RecordState;
  readonly fingerprint: Fingerprint;
  /** Whether an equal fingerprint proves equal content (see `isTrustworthy`). */
  readonly trusted: boolean;
  /** `settingsDigest` of what was sent. */
  readonly settingsDigest: string;
  /** Epoch milliseconds. */
  readonly expiresAtMs: number | null;
  /** When it is to be sent again before it expires, epoch milliseconds. */
  readonly renewAtMs: number | null;
  readonly absence: Absence | null;
  /** `null`: it is not known. */
  readonly verdict: Verdict | null;
  /** `null`: nothing, as far as is known. */
  readonly differs: Difference | null;
}
