import type { FileKey } from '../../domain/key.ts';
import { otherFacts } from '../../domain/change-in-place.ts';
import type { ListedFile } from '../../domain/file-catalog.ts';
import { readMark, type Mark } from '../../domain/mark.ts';
import { delayOf, readStatus, type PlatformStatus } from '../../domain/platform-status.ts';
import type { Difference, FileRecord } from '../../domain/record.ts';
import type { SentSettings } from '../../domain/settings.ts';
import type { FoundFile } from '../../store/remote.ts';
import type { DifferenceReason } from '../../domain/status.ts';

export interface FoundDifference {
  readonly reason: DifferenceReason;
  /** For messages. */
  readonly detail: string;
  /** The difference to record; `null`: the record shows it already, or there is none. */
  readonly noted: Difference | null;
}

/** A difference between a bot's files and what was sent. */
export interface FileDifference extends FoundDifference {
  readonly key: FileKey;
  /** The platform's id of the file; `null`: there is none, or it is unknown. */
  readonly id: string | null;
  readonly source: string;
  /** `null`: no path of the source produces the key. */
  readonly path: string | null;
  /** The content of an orphan, by its size and its mark (lower-case hexadecimal); `null`: not an orphan. */
  readonly content: { readonly sizeBytes: number; readonly sha256: string } | null;
}

export type Comparison =
  /** The file is as it should be. */
  | { readonly kind: 'same'; readonly found: FoundFile }
  /** Nothing to compare: the file should not exist, is left alone, or is in progress. */
  | { readonly kind: 'none' }
  | { readonly kind: 'different'; readonly difference: FoundDifference };

export interface CompareTerms {
  /** The platform's time, epoch milliseconds. */
  readonly nowMs: number;
  /** Returns the settings that were sent under a digest; `null`: no longer known. */
  readonly toldSettings: (digest: string) => SentSettings | null;
}

/** The grace period for the platform to delete an expired file, milliseconds. */
const EXPIRY_GRACE_MS = 3_600_000;

const NONE: Comparison = { kind: 'none' };

/** Compares a recorded file with the platform's file under its key (`null`: none). */
export function compareFile(sent: FileRecord, file: ListedFile | null, terms: CompareTerms): Comparison {
  if (sent.state === 'removing') return compareRemoved(sent, file, terms.nowMs);
  // Files that are no longer synced are left alone; the state of files being sent is known later.
  if (sent.absence !== null || sent.state === 'sending') return NONE;
  if (sent.state !== 'synced')
    return different('unsent', `it could not be sent: ${sent.failure ?? 'no reason is known'}`, null);
  if (sent.expiresAtMs !== null && sent.expiresAtMs <= terms.nowMs) return NONE;
  return compareSynced(sent, file, terms);
}

function compareRemoved(
  { source, expiresAtMs }: FileRecord,
  file: ListedFile | null,
  nowMs: number,
): Comparison {
  if (file === null || expiresAtMs === null) return NONE;
  if (readMark(file.metadata)?.source === source)
    return different('orphan', 'it was removed, and is there again with the mark of botsync', null);
  if (nowMs < expiresAtMs + EXPIRY_GRACE_MS) return NONE;
  // A file with content was put there later by somebody else.
  const isOurs = (file.sizeBytes ?? 0) === 0 && file.expiresAtMs !== null && readMark(file.metadata) === null;
  if (!isOurs) return NONE;
  const detail = `it was removed and should have expired at ${new Date(expiresAtMs).toISOString()}`;
  return different('not-removed', detail, null);
}

function compareSynced(sent: FileRecord, file: ListedFile | null, terms: CompareTerms): Comparison {
  if (file === null) return different('missing', 'the bot does not have it', 'content');
  const mark = readMark(file.metadata);
  const theirs = whyReplaced(sent, file, mark);
  if (theirs !== null) return different('replaced', theirs, 'replaced');
  const told = terms.toldSettings(sent.settingsDigest);
  const status = readStatus(file, sent, told?.index ?? null);
  return (
    statusDifference(sent, file, status, terms.nowMs) ??
    factsOf(sent, file, told) ?? { kind: 'same', found: foundFile(sent, file, status, mark) }
  );
}

/** Returns why a file is not the one that was sent; `null` if it is, as far as is known. */
function whyReplaced(
  { sha256, isMarked, verdict, remoteId }: FileRecord,
  file: ListedFile,
  mark: Mark | null,
): string | null {
  // Before it is confirmed, a file that was sent without a mark may show the mark of the earlier content.
  if (mark !== null && (isMarked || verdict !== null) && mark.sha256 !== sha256?.toString('hex'))
    return 'somebody else replaced it with other content that has a mark of botsync';
  if (mark !== null) return null;
  if (isMarked) return 'somebody else replaced it: our mark is missing';
  return remoteId === null || remoteId === file.id
    ? null
    : 'somebody else replaced it with a file of another id';
}

/** Returns a difference in status; `null`: compare the settings. */
function statusDifference(
  sent: FileRecord,
  { sizeBytes }: ListedFile,
  status: PlatformStatus,
  nowMs: number,
): Comparison | null {
  switch (status.kind) {
    case 'final':
      return null;
    case 'lost':
      return different('failed', status.reason, 'content');
    case 'unsearchable':
      // The same content would fail again.
      return different('failed', status.reason, null);
    case 'other':
      if (sizeBytes !== null && sizeBytes !== sent.sizeBytes)
        return different('size', `it has ${sizeBytes} bytes instead of ${sent.sizeBytes}`, 'content');
      return delayDifference(sent, status, nowMs) ?? NONE;
    case 'unregistered':
      return delayDifference(sent, status, nowMs) ?? NONE;
    case 'pending':
      return delayDifference(sent, status, nowMs);
  }
}

function delayDifference(sent: FileRecord, status: PlatformStatus, nowMs: number): Comparison | null {
  const sinceMs = sent.sentAtMs ?? sent.changedAtMs;
  const delay = delayOf(status, nowMs - sinceMs);
  if (delay === null) return null;
  const detail = `its status is ${status.said} since ${new Date(sinceMs).toISOString()}`;
  return different('pending', detail, delay === 'lost' ? 'content' : null);
}

function factsOf(sent: FileRecord, file: ListedFile, told: SentSettings | null): Comparison | null {
  if (sent.changing !== null) return NONE;
  const others: string[] = told === null ? [] : otherFacts(file, told);
  if (file.expiresAtMs !== sent.expiresAtMs) others.push('expiresAt');
  return others.length === 0 ? null : different('facts', `settings differ: ${others.join(', ')}`, 'facts');
}

function foundFile(
  { sha256 }: FileRecord,
  { id }: ListedFile,
  status: PlatformStatus,
  mark: Mark | null,
): FoundFile {
  return {
    remoteId: id,
    verdict: status.kind === 'final' ? status.verdict : null,
    isMarked: mark !== null && mark.sha256 === sha256?.toString('hex'),
  };
}

function different(reason: DifferenceReason, detail: string, noted: Difference | null): Comparison {
  return { kind: 'different', difference: { reason, detail, noted } };
}
