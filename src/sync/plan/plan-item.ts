import type { Adoptable } from '../../domain/adoption.ts';
import type { FileKey, RelativePath } from '../../domain/key.ts';
import type { SendReason, VerifyReason } from '../../domain/decide.ts';
import { type Fingerprint, sizeInFingerprint } from '../../domain/fingerprint.ts';
import type { FileRefusal, Obstacle } from '../../domain/obstacle.ts';
import { type Absence, type FileRecord, differenceOf } from '../../domain/record.ts';
import type { ResolvedSettings } from '../../domain/rules.ts';

export type PlanItem =
  | { readonly kind: 'tick' }
  | ({
      readonly kind: 'unchanged';
      readonly record: FileRecord;
      /** When the current rules renew it, epoch milliseconds. */
      readonly renewAtMs: number | null;
    } & PathAndKey)
  /** Refused or failed before and unchanged since: not retried now. */
  | ({ readonly kind: 'hold'; readonly record: FileRecord } & PathAndKey)
  | PlannedSend
  | ({
      readonly kind: 'refuse' | 'skip';
      readonly record: FileRecord | null;
      readonly fingerprint: Fingerprint;
      readonly reason: FileRefusal;
    } & PathAndKey)
  /** Not a file to sync: it has neither a key nor a record. */
  | { readonly kind: 'pass-over'; readonly path: RelativePath; readonly reason: string }
  | {
      readonly kind: 'problem';
      readonly path: RelativePath;
      readonly key: FileKey | null;
      /** Of a readable file that is not sent for another reason. */
      readonly fingerprint?: Fingerprint;
      readonly reason: Obstacle;
      readonly hidesFiles: boolean;
    }
  /** A record without a file. `absence`: `null` if that is uncertain. */
  | { readonly kind: 'absent'; readonly record: FileRecord; readonly absence: Absence | null };

export interface PathAndKey {
  readonly path: RelativePath;
  readonly key: FileKey;
}

/** A file to send (`send`), or to hash first and send if its content differs (`verify`). */
export interface PlannedSend extends PathAndKey {
  readonly kind: 'send' | 'verify';
  readonly reason: SendReason | VerifyReason;
  readonly fingerprint: Fingerprint;
  /** See `isTrustworthy`. */
  readonly trusted: boolean;
  readonly sizeBytes: number;
  /** According to the rules. */
  readonly ruled: ResolvedSettings;
  /** After the limits are applied. */
  readonly resolved: ResolvedSettings;
  readonly record: FileRecord | null;
  /** Only its settings changed: its content need not be sent if the platform supports that. */
  readonly isInPlace: boolean;
  /** Of a file without a record: the platform's file under its key, if known. */
  readonly found: FoundThere | null;
}

/** The platform's file under a key without a record: perhaps the same file, or somebody else's. */
export type FoundThere =
  ({ readonly kind: 'adoptable' } & Adoptable) | { readonly kind: 'ours' } | { readonly kind: 'foreign' };

/** Returns whether an item is a file that may have to be sent. */
export function isPlannedSend(item: PlanItem): item is PlannedSend {
  return item.kind === 'send' || item.kind === 'verify';
}

/** Returns whether the file was sent with these settings since it was planned. The content remains to be compared. */
export function wasSentSince(item: PlannedSend, now: FileRecord | null): boolean {
  if (now?.state !== 'synced' || item.reason === 'forced') return false;
  // The recorded content proves nothing about a difference found on the platform.
  if (item.reason === 'differs' && differenceOf(now) !== null) return false;
  if (item.reason === 'renewal-due' && now.expiresAtMs === item.record?.expiresAtMs) return false;
  // The file may have been written again between the planning and that sending, which sent the later content.
  const isOfSince = now.fingerprint === item.fingerprint || now.fingerprint !== item.record?.fingerprint;
  return isOfSince && now.settingsDigest === item.resolved.digest;
}

/** Returns whether sending takes more storage, which a used-up quota does not allow. */
export function takesRoom({ record, sizeBytes, resolved }: PlannedSend): boolean {
  if (record?.state !== 'synced' || record.settingsDigest !== resolved.digest) return true;
  return sizeBytes > sizeInFingerprint(record.fingerprint);
}
