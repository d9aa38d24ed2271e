import { FIRST_ASKED_AFTER_MS } from './confirmation.ts';
import { otherFacts } from './change-in-place.ts';
import { renewalTime } from './expiry.ts';
import type { ListedFile } from './file-catalog.ts';
import { readMark } from './mark.ts';
import { mayHaveContent, readStatus } from './platform-status.ts';
import type { Verdict } from './record.ts';
import { sentSettingsOf, type FileSettings } from './settings.ts';

/** A file of the platform that may have the content of a local file; their contents are not compared yet. */
export interface Adoptable {
  readonly file: ListedFile;
  /** From the mark. */
  readonly sha256: Buffer;
  /** `same` as the rules, `facts` where a change in place is enough, or `other` where the file must be sent. */
  readonly told: 'same' | 'facts' | 'other';
}

/**
 * Returns the candidate for a local file without a record; `null`: it cannot have that content.
 *
 * @param settings - of the local file.
 * @param nowMs - the platform's time, epoch milliseconds.
 */
export function adoptable(
  file: ListedFile,
  { sizeBytes, settings }: { sizeBytes: number; settings: FileSettings },
  nowMs: number,
): Adoptable | null {
  const mark = readMark(file.metadata);
  if (mark === null || file.sizeBytes !== sizeBytes || !mayHaveContent(file.status)) return null;
  const others = otherFacts(file, sentSettingsOf(settings));
  const needsContent = others.includes('index') || others.includes('contentType');
  // The mark may name another source: only its content counts.
  const isSame = others.length === 0 && isExpiryRight(file, settings, nowMs);
  const told = needsContent ? 'other' : isSame ? 'same' : 'facts';
  return { file, sha256: Buffer.from(mark.sha256, 'hex'), told };
}

/** Returns whether a file expires as the rules say, and need not be renewed yet. */
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
 * Returns the verdict that follows from the platform's current entry. `askAtMs`: when the platform is asked next about the file,
 * epoch milliseconds; `null`: the verdict is final.
 *
 * @param sent - the content that the file should have.
 */
export function verdictOnContent(
  file: ListedFile,
  sent: { readonly sizeBytes: number; readonly sha256: Buffer },
  isIndexed: boolean,
  nowMs: number,
): { readonly verdict: Verdict | null; readonly askAtMs: number | null } {
  const status = readStatus(file, { ...sent, isMarked: readMark(file.metadata) !== null }, isIndexed);
  if (status.kind === 'final') return { verdict: status.verdict, askAtMs: null };
  return { verdict: null, askAtMs: nowMs + FIRST_ASKED_AFTER_MS };
}
