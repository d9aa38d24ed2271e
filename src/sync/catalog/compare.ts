import type { FileKey } from '../../domain/key.ts';
import { otherFacts } from '../../domain/facts.ts';
import type { ListedFile } from '../../domain/file-catalog.ts';
import { readMark, type Mark } from '../../domain/mark.ts';
import { delayOf, readStatus, type PlatformStatus } from '../../domain/platform-status.ts';
import type { Difference, FileRecord } from '../../domain/record.ts';
import type { ToldSettings } from '../../domain/settings.ts';
import type { FoundFile } from '../../store/remote.ts';
import type { DifferenceReason } from '../../domain/status.ts';

/** One difference. */
export interface FoundDifference {
  readonly reason: DifferenceReason;
  /** For people. */
  readonly detail: string;
  /** What its record is to say of it; `null`: it says it already, or there is none. */
  readonly noted: Difference | null;
}

/** A difference between what a bot has and what it was sent. */
export interface FileDifference extends FoundDifference {
  readonly key: FileKey;
  /** The platform's id of what is there; `null`: nothing is, or that is not known. */
  readonly id: string | null;
  readonly source: string;
  /** `null`: no path of the source gives the key. */
  readonly path: string | null;
  /** The content of an orphan, by its size and its mark (lower-case hexadecimal); `null`: it is no orphan. */
  readonly content: { readonly sizeBytes: number; readonly sha256: string } | null;
}

/** What comparing one file came to. */
export type Comparison =
  /** There as it should be; `found`: how. */
  | { readonly kind: 'same'; readonly found: FoundFile }
  /** Nothing of it should be there, or it is left alone, or its fate is open. */
  | { readonly kind: 'none' }
  | { readonly kind: 'different'; readonly difference: FoundDifference };

/** What comparing needs to know besides the file and its record. */
export interface CompareTerms {
  /** The platform's time, epoch milliseconds. */
  readonly nowMs: number;
  /** What the platform was told under a digest of settings; `null`: that is not known any more. */
  readonly toldSettings: (digest: string) => ToldSettings | null;
}

/** What expired is gone so long afterwards, milliseconds: the platform need not be on time. */
const EXPIRY_GRACE_MS = 3_600_000;

const NONE: Comparison = { kind: 'none' };

/** Compares a file on record with what the platform has under its key. `file`: `null`: nothing. */
export function compareFile(sent: FileRecord, file: ListedFile | null, terms: CompareTerms): Comparison {
  if (sent.state === 'removing') return compareRemoved(sent, file, terms.nowMs);
  // What is not synced any more is left alone; what is on its way is known later.
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
  // Whatever has content was put there since.
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

/** Why a file is not the one that was sent; `null`: it is, as far as can be told. */
function whyReplaced(
  { sha256, isMarked, verdict, remoteId }: FileRecord,
  file: ListedFile,
  mark: Mark | null,
): string | null {
  // Until it is confirmed, an entry that was given no mark may show that of the content before.
  if (mark !== null && (isMarked || verdict !== null) && mark.sha256 !== sha256?.toString('hex'))
    return 'somebody else replaced it with other content that has a mark of botsync';
  if (mark !== null) return null;
  if (isMarked) return 'somebody else replaced it: our mark is missing';
  return remoteId === null || remoteId === file.id
    ? null
    : 'somebody else replaced it with a file of another id';
}

/** A difference that the status shows; `null`: none, so that the facts are compared. */
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

function factsOf(sent: FileRecord, file: ListedFile, told: ToldSettings | null): Comparison | null {
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
