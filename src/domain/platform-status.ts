import type { CatalogFile } from './file-catalog.ts';
import { readMark } from './mark.ts';

/** `said`: in the platform's words, for people. */
export type PlatformStatus =
  /** The platform has the content, and the bot can search it if it was sent to be indexed. */
  | { readonly kind: 'final'; readonly verdict: 'stored' | 'searchable'; readonly said: string }
  | { readonly kind: 'unsearchable'; readonly said: string; readonly reason: string }
  /** The platform does not have content that its store received. */
  | { readonly kind: 'lost'; readonly said: string; readonly reason: string; readonly cause: LossCause }
  /** The platform has an entry, and has not registered the content yet. */
  | { readonly kind: 'unregistered'; readonly said: string }
  /** The answer is about other content: the previous one, or somebody else's. */
  | { readonly kind: 'other'; readonly said: string }
  /** In progress, or an unknown status. */
  | { readonly kind: 'pending'; readonly said: string };

export type LossCause = 'quota' | 'size' | 'other';

export const GONE: PlatformStatus = {
  kind: 'lost',
  said: 'not found',
  reason: 'the platform no longer has it',
  cause: 'other',
};

/** A file that is not listed may still exist. */
export const NOT_LISTED: PlatformStatus = { kind: 'pending', said: 'not listed' };

export type StatusFields = Pick<CatalogFile, 'status' | 'failedReason' | 'index' | 'sizeBytes' | 'metadata'>;

export interface SentContent {
  readonly sizeBytes: number;
  /** `null`: not known any more. */
  readonly sha256: Buffer | null;
  /** The entry has the mark of this content. */
  readonly isMarked: boolean;
}

interface Meaning {
  readonly content: 'awaited' | 'refused' | 'there';
  readonly index: 'none' | 'awaited' | 'done' | 'failed';
}

/** The known statuses (test/conformance/CONTRACT.md, A file's life). */
const MEANINGS: ReadonlyMap<string | null, Meaning> = new Map([
  ['upload_pending', { content: 'awaited', index: 'none' }],
  ['upload_failed', { content: 'refused', index: 'none' }],
  ['upload_completed', { content: 'there', index: 'none' }],
  ['indexing_pending', { content: 'there', index: 'awaited' }],
  ['indexing_completed', { content: 'there', index: 'done' }],
  ['indexing_failed', { content: 'there', index: 'failed' }],
]);

/**
 * Returns the status of the content that was sent.
 *
 * @param isIndexed - whether it was sent to be indexed; `null`: not known any more, so the answer decides.
 */
export function readStatus(file: StatusFields, sent: SentContent, isIndexed: boolean | null): PlatformStatus {
  const { status, sizeBytes } = file;
  const said = status ?? 'no status';
  const meaning = MEANINGS.get(status);
  const other: PlatformStatus = { kind: 'other', said: `${said} with other content` };
  if (!hasMarkOf(file, sent)) return other;
  if (meaning?.content === 'refused') return refused(file, said);
  if (meaning?.content === 'awaited') return { kind: 'unregistered', said };
  if (sizeBytes !== null && sizeBytes !== sent.sizeBytes) return other;
  if (meaning === undefined) return { kind: 'pending', said };
  // A platform knows the size of all content that it has.
  if (sizeBytes === null) return { kind: 'pending', said: `${said} without a size` };
  const isSearched = isIndexed ?? file.index ?? meaning.index !== 'none';
  return isSearched ? readIndex(file, meaning, said) : { kind: 'final', verdict: 'stored', said };
}

function readIndex({ failedReason }: StatusFields, { index }: Meaning, said: string): PlatformStatus {
  switch (index) {
    case 'none':
    case 'awaited':
      return { kind: 'pending', said };
    case 'done':
      return { kind: 'final', verdict: 'searchable', said };
    case 'failed': {
      const why = failedReason ?? 'the platform does not say why';
      return { kind: 'unsearchable', said, reason: `could not be indexed: ${why}` };
    }
  }
}

function refused({ failedReason }: StatusFields, said: string): PlatformStatus {
  const why = failedReason ?? 'it does not say why';
  return { kind: 'lost', said, reason: `the platform refused the content: ${why}`, cause: causeOf(why) };
}

/** Classifies a reason by its words: the platform gives no code. */
function causeOf(reason: string): LossCause {
  if (/quota/iu.test(reason)) return 'quota';
  return /\btoo (?:large|big)\b|\blarger than\b|\bat most [\d,.]+|\b(?:size|bytes) limit\b|\bmaximum (?:file )?size\b/iu.test(
    reason,
  )
    ? 'size'
    : 'other';
}

/**
 * Returns whether an entry has the mark of a content, or no mark where none was set. A list may lag behind, and show the previous
 * entry.
 */
function hasMarkOf({ metadata }: StatusFields, { sha256, isMarked }: SentContent): boolean {
  const mark = readMark(metadata);
  return mark === null ? !isMarked : mark.sha256 === sha256?.toString('hex');
}

/** Returns whether a status says that content exists, or leaves that open. */
export function mayHaveContent(status: string | null): boolean {
  return status !== null && (MEANINGS.get(status)?.content ?? 'there') === 'there';
}

/** Content that the platform has not registered this long after the upload is lost, milliseconds. */
const REGISTERED_AFTER_MS = 600_000;

/** The longest time that the platform takes to index a file, milliseconds. */
const LONGEST_INDEXING_MS = 86_400_000;

/**
 * Returns the problem with a status that is not final, by its age in milliseconds: `lost`: the content never arrived; `late`: the
 * status should be final by now; `null`: no problem yet.
 */
export function delayOf({ kind }: PlatformStatus, ageMs: number): 'lost' | 'late' | null {
  switch (kind) {
    case 'final':
    case 'unsearchable':
    case 'lost':
      return null;
    case 'unregistered':
      return ageMs >= REGISTERED_AFTER_MS ? 'lost' : null;
    case 'other':
    case 'pending':
      return ageMs >= LONGEST_INDEXING_MS ? 'late' : null;
  }
}
