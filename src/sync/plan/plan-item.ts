import type { Adoptable } from '../../domain/adoption.ts';
import type { FileKey, RelativePath } from '../../domain/key.ts';
import type { SendReason, VerifyReason } from '../../domain/decide.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import type { Absence, FileRecord } from '../../domain/record.ts';
import type { ResolvedSettings } from '../../domain/rules.ts';

/** What a pass is to do about one path. */
export type PlanItem =
  | { readonly kind: 'tick' }
  | ({
      readonly kind: 'unchanged';
      readonly record: FileRecord;
      /** When it is to be sent again by the rules of now, epoch milliseconds. */
      readonly renewAtMs: number | null;
    } & PathAndKey)
  /** Refused or failed as it is: not tried now. */
  | ({ readonly kind: 'hold'; readonly record: FileRecord } & PathAndKey)
  | PlannedSend
  | {
      readonly kind: 'refuse' | 'skip';
      readonly path: RelativePath;
      readonly key: FileKey;
      readonly record: FileRecord | null;
      readonly fingerprint: Fingerprint;
      readonly reason: string;
    }
  /** Something that is no file for us: no key, no record. */
  | { readonly kind: 'pass-over'; readonly path: RelativePath; readonly reason: string }
  | {
      readonly kind: 'problem';
      readonly path: RelativePath;
      readonly key: FileKey | null;
      /** Of a file that can be read, and is not sent for another reason. */
      readonly fingerprint?: Fingerprint;
      readonly reason: string;
      readonly hidesFiles: boolean;
    }
  /** A record without a file; `absence` is `null` when that is not certain. */
  | { readonly kind: 'absent'; readonly record: FileRecord; readonly absence: Absence | null };

/** A path and its key. */
export interface PathAndKey {
  readonly path: RelativePath;
  readonly key: FileKey;
}

/** A file to send, or to hash first and send if it turns out to be another. */
export interface PlannedSend extends PathAndKey {
  readonly kind: 'send' | 'verify';
  readonly reason: SendReason | VerifyReason;
  readonly fingerprint: Fingerprint;
  /** See `isTrustworthy`. */
  readonly trusted: boolean;
  readonly sizeBytes: number;
  /** As the rules give them. */
  readonly ruled: ResolvedSettings;
  /** After the limits had their say. */
  readonly resolved: ResolvedSettings;
  readonly record: FileRecord | null;
  /** Whether only what the platform is told of it is other, so that its content need not be sent where it serves that. */
  readonly isInPlace: boolean;
  /** Of a file without a record: what the platform has under its key, as far as it was asked. */
  readonly found: FoundThere | null;
}

/** What the platform has under a key of which nothing is on record: perhaps the same file, or one of somebody else. */
export type FoundThere =
  ({ readonly kind: 'adoptable' } & Adoptable) | { readonly kind: 'ours' } | { readonly kind: 'foreign' };

/** Whether an item is a file that may have to be sent. */
export function isPlannedSend(item: PlanItem): item is PlannedSend {
  return item.kind === 'send' || item.kind === 'verify';
}
