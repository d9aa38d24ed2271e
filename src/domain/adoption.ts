import { FIRST_ASKED_AFTER_MS } from './confirmation.ts';
import { otherFacts } from './facts.ts';
import { renewalTime } from './expiry.ts';
import type { ListedFile } from './file-catalog.ts';
import { readMark } from './mark.ts';
import { mayHaveContent, readStatus } from './platform-status.ts';
import type { Verdict } from './record.ts';
import { toldOf, type FileSettings } from './settings.ts';

/** A file of the platform that may be one that is here: its content is still to be compared with the mark. */
export interface Adoptable {
  readonly file: ListedFile;
  /** Of the content that was sent. */
  readonly sha256: Buffer;
  /**
   * Whether all that the platform was told of it is what the rules say: `same`, `facts` where it takes a change in place, or
   * `other` where it has to be sent.
   */
  readonly told: 'same' | 'facts' | 'other';
}

/**
 * Whether a file that the platform has may be taken for one that is here and has no record. `null`: it has not.
 *
 * @param settings - what the rules say of the file that is here.
 * @param nowMs - the platform's time, epoch milliseconds.
 */
export function adoptable(
  file: ListedFile,
  { sizeBytes, settings }: { sizeBytes: number; settings: FileSettings },
  nowMs: number,
): Adoptable | null {
  const mark = readMark(file.metadata);
  if (mark === null || file.sizeBytes !== sizeBytes || !mayHaveContent(file.status)) return null;
  const others = otherFacts(file, toldOf(settings));
  const needsContent = others.includes('index') || others.includes('contentType');
  // The mark may name a source of another name: its content is what counts.
  const isSame = others.length === 0 && isExpiryRight(file, settings, nowMs);
  const told = needsContent ? 'other' : isSame ? 'same' : 'facts';
  return { file, sha256: Buffer.from(mark.sha256, 'hex'), told };
}

/** Whether a file expires as the rules say, and is not to be renewed yet. */
function isExpiryRight({ expiresAtMs }: ListedFile, { expiry }: FileSettings, nowMs: number): boolean {
  if (expiry === null || expiresAtMs === null) return expiry === null && expiresAtMs === null;
  switch (expiry.kind) {
    case 'at':
      return Math.floor(expiry.atMs / MINUTE_MS) === Math.floor(expiresAtMs / MINUTE_MS);
    case 'in': {
      const renewAtMs = renewalTime(expiry, expiresAtMs);
      const isInTime = expiresAtMs > nowMs && expiresAtMs <= nowMs + expiry.lifetimeMs;
      return isInTime && (renewAtMs === null || nowMs < renewAtMs);
    }
  }
}

const MINUTE_MS = 60_000;

/**
 * What is known of a file from how the platform has it now. `askAtMs`: when it is asked next what became of it, epoch
 * milliseconds; `null`: it has said so.
 *
 * @param sent - the content that it should have.
 */
export function standingOf(
  file: ListedFile,
  sent: { readonly sizeBytes: number; readonly sha256: Buffer },
  isIndexed: boolean,
  nowMs: number,
): { readonly verdict: Verdict | null; readonly askAtMs: number | null } {
  const status = readStatus(file, { ...sent, isMarked: readMark(file.metadata) !== null }, isIndexed);
  if (status.kind === 'final') return { verdict: status.verdict, askAtMs: null };
  return { verdict: null, askAtMs: nowMs + FIRST_ASKED_AFTER_MS };
}
