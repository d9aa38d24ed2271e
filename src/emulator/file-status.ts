import { extname } from 'node:path/posix';
import type { Settings } from './options.ts';

/** Where a file is on its way. Source: platform-facts.md, Files. */
export type FileStatus =
  'upload_pending' | 'upload_completed' | 'indexing_pending' | 'indexing_failed' | 'indexing_completed';

/** What of a file its status follows from. `uploadedAt`: epoch ms. */
export interface StatusFacts {
  readonly key: string;
  readonly indexed: boolean;
  readonly uploadedAt: number | null;
}

/** The status at a moment, and why a failure is one. `now`: epoch ms. */
export function statusOf(
  file: StatusFacts,
  settings: Settings,
  now: number,
): { readonly status: FileStatus; readonly failedStatusReason: string | null } {
  if (file.uploadedAt === null) return { status: 'upload_pending', failedStatusReason: null };
  if (!file.indexed) return { status: 'upload_completed', failedStatusReason: null };
  if (now < file.uploadedAt + settings.indexingDelayMs) {
    return { status: 'indexing_pending', failedStatusReason: null };
  }
  const extension = extensionOf(file.key);
  if (!settings.limits.indexableExtensions.includes(extension)) {
    const format = extension === '' ? 'files without an extension' : `".${extension}" files`;
    return { status: 'indexing_failed', failedStatusReason: `Indexing of ${format} is not supported` };
  }
  return { status: 'indexing_completed', failedStatusReason: null };
}

/** The lower-case extension of a key without its dot, '' when it has none. */
export function extensionOf(key: string): string {
  return extname(key).slice(1).toLowerCase();
}
