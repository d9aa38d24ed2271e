import type { FileKey } from '../../domain/brands.ts';
import { otherFacts } from '../../domain/facts.ts';
import type { ListedFile } from '../../domain/file-catalog.ts';
import { readMark, type Mark } from '../../domain/mark.ts';
import type { Difference, Verdict } from '../../domain/record.ts';
import type { ToldSettings } from '../../domain/settings.ts';
import type { FoundFile } from '../../state/remote-store.ts';
import type { SentFile } from '../../state/sent-files.ts';

/**
 * How what the platform has differs from what was sent:
 * - `missing`: nothing is there.
 * - `size`, `content`: the content is another, though the file is ours.
 * - `failed`: the platform could not store or index it.
 * - `pending`: it has not been stored or indexed for a long time.
 * - `facts`: tags, metadata, policies, content type, index or expiry are others than it was told.
 * - `replaced`: somebody else put another file in its place.
 * - `unsent`: by the records already it is not there as it should be.
 * - `not-removed`: it was removed, and what was left in its place should have expired.
 * - `orphan`: it carries our mark, and nothing is known of it, here or on record.
 */
export type DifferenceReason =
  | 'missing'
  | 'size'
  | 'content'
  | 'failed'
  | 'pending'
  | 'facts'
  | 'replaced'
  | 'unsent'
  | 'not-removed'
  | 'orphan';

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

/** A platform takes no longer to notice that content came, milliseconds. */
const LONGEST_NOTICE_MS = 600_000;

/** Nor to index it. */
const LONGEST_INDEXING_MS = 86_400_000;

/** What expired is gone so long afterwards, milliseconds: the platform need not be on time. */
const EXPIRY_GRACE_MS = 3_600_000;

const NONE: Comparison = { kind: 'none' };

/** Compares a file on record with what the platform has under its key. `file`: `null`: nothing. */
export function compareFile(sent: SentFile, file: ListedFile | null, terms: CompareTerms): Comparison {
  if (sent.state === 'removing') return compareRemoved(sent, file, terms.nowMs);
  // What is not synced any more is left alone; what is on its way is known later.
  if (sent.absence !== null || sent.state === 'sending') return NONE;
  if (sent.state !== 'synced')
    return different('unsent', `it could not be sent: ${sent.failure ?? 'no reason is known'}`, null);
  if (sent.expiresAtMs !== null && sent.expiresAtMs <= terms.nowMs) return NONE;
  return compareSynced(sent, file, terms);
}

function compareRemoved({ expiresAtMs }: SentFile, file: ListedFile | null, nowMs: number): Comparison {
  if (file === null || expiresAtMs === null || nowMs < expiresAtMs + EXPIRY_GRACE_MS) return NONE;
  // Whatever has content was put there since.
  const isOurs = (file.sizeBytes ?? 0) === 0 && file.expiresAtMs !== null && readMark(file.metadata) === null;
  if (!isOurs) return NONE;
  const detail = `it was removed and should have expired at ${new Date(expiresAtMs).toISOString()}`;
  return different('not-removed', detail, null);
}

function compareSynced(sent: SentFile, file: ListedFile | null, terms: CompareTerms): Comparison {
  if (file === null) return different('missing', 'the bot does not have it', 'content');
  const mark = readMark(file.metadata);
  const theirs = whyReplaced(sent, file, mark);
  if (theirs !== null) return different('replaced', theirs, 'replaced');
  return (
    failureOf(file) ??
    delayOf(sent, file, terms.nowMs) ??
    otherSize(sent, file) ??
    factsOf(sent, file, terms) ?? { kind: 'same', found: foundFile(sent, file, mark) }
  );
}

/** Why a file is not the one that was sent; `null`: it is, as far as can be told. */
function whyReplaced(
  { sha256, isMarked, remoteId }: SentFile,
  file: ListedFile,
  mark: Mark | null,
): string | null {
  // Without a mark of this content, what stands there may be left from the content before.
  if (mark !== null && isMarked && mark.sha256 !== sha256?.toString('hex'))
    return 'somebody else replaced it with other content that has a mark of botsync';
  if (mark !== null) return null;
  if (isMarked) return 'somebody else replaced it: our mark is missing';
  return remoteId === null || remoteId === file.id
    ? null
    : 'somebody else replaced it with a file of another id';
}

function failureOf({ status, failedReason }: ListedFile): Comparison | null {
  const why = failedReason === null ? '' : `: ${failedReason}`;
  if (status === 'upload_failed') return different('failed', `the platform refused it${why}`, 'content');
  // The same content would fail again.
  return status === 'indexing_failed' ? different('failed', `it could not be indexed${why}`, null) : null;
}

/** A file that is too long on its way; one of which that is not known yet is not compared further. */
function delayOf(sent: SentFile, { status, sizeBytes, index }: ListedFile, nowMs: number): Comparison | null {
  if (status === null || verdictOf(status, index) !== null) return null;
  const sinceMs = sent.sentAtMs ?? sent.changedAtMs;
  const isNoticed = status !== 'upload_pending' && sizeBytes !== null;
  const limitMs = isNoticed ? LONGEST_INDEXING_MS : LONGEST_NOTICE_MS;
  const since = new Date(sinceMs).toISOString();
  if (nowMs - sinceMs > limitMs)
    return different('pending', `its status is ${status} since ${since}`, isNoticed ? null : 'content');
  return isNoticed ? null : NONE;
}

function otherSize(sent: SentFile, { sizeBytes }: ListedFile): Comparison | null {
  if (sizeBytes === null || sizeBytes === sent.sizeBytes) return null;
  return different('size', `it has ${sizeBytes} bytes instead of ${sent.sizeBytes}`, 'content');
}

function factsOf(sent: SentFile, file: ListedFile, terms: CompareTerms): Comparison | null {
  if (sent.isChanging) return NONE;
  const told = terms.toldSettings(sent.settingsDigest);
  const others: string[] = told === null ? [] : otherFacts(file, told);
  if (file.expiresAtMs !== sent.expiresAtMs) others.push('expiresAt');
  return others.length === 0 ? null : different('facts', `settings differ: ${others.join(', ')}`, 'facts');
}

function foundFile({ sha256 }: SentFile, { id, status, index }: ListedFile, mark: Mark | null): FoundFile {
  return {
    remoteId: id,
    verdict: status === null ? null : verdictOf(status, index),
    isMarked: mark !== null && mark.sha256 === sha256?.toString('hex'),
  };
}

/** What a status says for good; `null`: nothing. `index`: whether the file is indexed. */
function verdictOf(status: string, index: boolean | null): Verdict | null {
  switch (status) {
    case 'upload_completed':
      return index === true ? null : 'stored';
    case 'indexing_completed':
      return 'searchable';
    case 'indexing_failed':
      return 'unsearchable';
    default:
      return null;
  }
}

function different(reason: DifferenceReason, detail: string, noted: Difference | null): Comparison {
  return { kind: 'different', difference: { reason, detail, noted } };
}
