import { renewalTime } from './expiry.ts';
import { sizeInFingerprint, type Fingerprint } from './fingerprint.ts';
import { differenceOf, type FileRecord } from './record.ts';
import type { ResolvedSettings } from './rules.ts';

export type SendReason =
  | 'new'
  | 'changed'
  | 'settings-changed'
  | 'renewal-due'
  | 'interrupted'
  | 'failed-before'
  | 'returned'
  /** The platform's copy was found to differ. */
  | 'differs'
  | 'forced';

/** Why a file's content is hashed and compared before it is sent. */
export type VerifyReason =
  | 'touched'
  | 'written-recently'
  /** Its fingerprint would not show every change, and a reread is due or an event named the file. */
  | 'in-doubt'
  /** It has no record, and the platform may have it already. */
  | 'listed';

export type Decision =
  | { readonly kind: 'none' }
  | { readonly kind: 'send'; readonly reason: SendReason }
  | { readonly kind: 'verify'; readonly reason: VerifyReason }
  /**
   * Nothing is sent until the file or its settings change: the platform refused it, could not index it, or has somebody else's
   * file.
   */
  | { readonly kind: 'hold' };

const NONE: Decision = { kind: 'none' };
const HOLD: Decision = { kind: 'hold' };

/** A scanned file with its settings, limits applied (see `admit`). */
export interface Candidate {
  readonly fingerprint: Fingerprint;
  readonly resolved: ResolvedSettings;
  /** The content may have changed although the fingerprint is the same. */
  readonly isInDoubt: boolean;
}

/**
 * Returns what to do about a file that exists.
 *
 * @param record - for its key at its target.
 * @param nowMs - the platform's time, epoch milliseconds.
 * @param forced - send it regardless of its record.
 */
export function decide(file: Candidate, record: FileRecord | null, nowMs: number, forced: boolean): Decision {
  if (record === null) return send('new');
  if (forced) return send('forced');
  switch (record.state) {
    case 'sending':
      return send('interrupted');
    case 'removing':
      // After its tombstone has expired, the platform has nothing under this key.
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
  // Only a change of the local file overwrites a file that somebody else put there.
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
