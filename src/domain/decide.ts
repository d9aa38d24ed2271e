import { renewalTime } from './expiry.ts';
import { sizeInFingerprint, type Fingerprint } from './fingerprint.ts';
import { differenceOf, type FileRecord } from './record.ts';
import type { ResolvedSettings } from './rules.ts';

/** Why a file is sent. */
export type SendReason =
  | 'new'
  | 'changed'
  | 'settings-changed'
  | 'renewal-due'
  | 'interrupted'
  | 'failed-before'
  | 'returned'
  /** The platform was found to have it otherwise. */
  | 'differs'
  | 'forced';

/** Why a file's content is hashed and compared before anything is sent. */
export type VerifyReason =
  | 'touched'
  | 'written-recently'
  /** Its fingerprint would not show every change, and it is its turn to be read, or something happened to it. */
  | 'in-doubt'
  /** Nothing is on record of it, and the platform may have it already. */
  | 'listed';

/** What one pair of file and record calls for. */
export type Decision =
  | { readonly kind: 'none' }
  | { readonly kind: 'send'; readonly reason: SendReason }
  | { readonly kind: 'verify'; readonly reason: VerifyReason }
  /** The platform refused the file as it is, or could not index it, or has another's: nothing is sent until it or its settings change. */
  | { readonly kind: 'hold' };

const NONE: Decision = { kind: 'none' };
const HOLD: Decision = { kind: 'hold' };

/** A file as the scan found it, with its settings after the limits had their say (see `admit`). */
export interface Candidate {
  readonly fingerprint: Fingerprint;
  readonly resolved: ResolvedSettings;
  /** Whether it may have another content though its fingerprint is the same. */
  readonly isInDoubt: boolean;
}

/**
 * What to do about a file that is there.
 *
 * @param record - what is remembered of it under its key at its target; `null` when nothing is.
 * @param nowMs - the platform's time, epoch milliseconds.
 * @param forced - send it whatever the record says.
 */
export function decide(file: Candidate, record: FileRecord | null, nowMs: number, forced: boolean): Decision {
  if (record === null) return send('new');
  if (forced) return send('forced');
  switch (record.state) {
    case 'sending':
      return send('interrupted');
    case 'removing':
      // Once its tombstone has expired nothing of it is left.
      return send(record.expiresAtMs !== null && record.expiresAtMs <= nowMs ? 'new' : 'returned');
    case 'failed':
      return send('failed-before');
    case 'refused':
      return decideRefused(file, record);
    case 'synced':
      return decideSynced(file, record, nowMs);
  }
}

function decideRefused({ fingerprint, resolved, isInDoubt }: Candidate, record: FileRecord): Decision {
  if (resolved.digest !== record.settingsDigest) return send('settings-changed');
  return fingerprint === record.fingerprint && record.trusted && !isInDoubt ? HOLD : send('changed');
}

function decideSynced(
  { fingerprint, resolved, isInDoubt }: Candidate,
  record: FileRecord,
  nowMs: number,
): Decision {
  const sameFacts = fingerprint === record.fingerprint;
  if (!sameFacts && sizeInFingerprint(fingerprint) !== sizeInFingerprint(record.fingerprint))
    return send('changed');
  const differs = differenceOf(record);
  if (differs === 'content' || differs === 'facts') return send('differs');
  if (resolved.digest !== record.settingsDigest) return send('settings-changed');
  // What others put there is overwritten by a change, as it would be by a new file, and by nothing else.
  if (differs === 'replaced' && sameFacts && record.trusted && !isInDoubt) return HOLD;
  if (record.expiresAtMs !== null) {
    const renewAtMs = renewalTime(resolved.settings.expiry, record.expiresAtMs);
    if (renewAtMs !== null && nowMs >= renewAtMs) return send('renewal-due');
  }
  if (!sameFacts) return { kind: 'verify', reason: 'touched' };
  if (!record.trusted) return { kind: 'verify', reason: 'written-recently' };
  if (isInDoubt) return { kind: 'verify', reason: 'in-doubt' };
  return record.verdict === 'unsearchable' ? HOLD : NONE;
}

function send(reason: SendReason): Decision {
  return { kind: 'send', reason };
}
