import type { Conditions } from './conditions.ts';
import { isMatch } from './file-life.ts';
import type { StoredFile } from './stored-file.ts';

/** Where a file is on its way, in that order. Source: platform-operations.md, What is said about a file's life. */
export const FILE_STATUSES = [
  'upload_pending',
  'upload_failed',
  'upload_completed',
  'indexing_pending',
  'indexing_in_progress',
  'indexing_failed',
  'indexing_completed',
] as const;

/** One of them. */
export type FileStatus = (typeof FILE_STATUSES)[number];

/** What of a file its status follows from. */
export type StatusFacts = Pick<StoredFile, 'key' | 'indexed' | 'life'>;

/** A status, and why it is a failure. */
export interface StatusWithReason {
  readonly status: FileStatus;
  readonly failedStatusReason: string | null;
}

/** The status at a moment. `now`: epoch ms. */
export function statusOf(file: StatusFacts, conditions: Conditions, now: number): StatusWithReason {
  const reached = reachedStatus(file, now);
  const again = conditions.get('pending-again');
  if (again === null || !isMatch(file.key, again.keys ?? '**')) return reached;
  if (reached.status === 'indexing_completed') return plain('indexing_pending');
  return reached.status === 'upload_completed' ? plain('upload_pending') : reached;
}

function reachedStatus({ indexed, life }: StatusFacts, now: number): StatusWithReason {
  if (life === null || now < life.noticedAt) return plain('upload_pending');
  if (life.uploadFailure !== null) return { status: 'upload_failed', failedStatusReason: life.uploadFailure };
  if (!indexed) return plain('upload_completed');
  if (now < life.indexingFrom) return plain('indexing_pending');
  if (now < life.indexedAt) return plain('indexing_in_progress');
  if (life.indexingFailure !== null)
    return { status: 'indexing_failed', failedStatusReason: life.indexingFailure };
  return plain('indexing_completed');
}

function plain(status: FileStatus): StatusWithReason {
  return { status, failedStatusReason: null };
}
