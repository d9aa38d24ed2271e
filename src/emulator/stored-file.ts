import { extname } from 'node:path/posix';
import { compilePattern } from '../domain/pattern.ts';
import type { Conditions } from './conditions.ts';
import type { Settings } from './options.ts';

/** Who may read a file. Source: interface.md, Create or update a file. */
export type AccessPolicy = 'public_content' | 'integrations';

/** The caller that created a file. Source: interface.md, File. */
export interface FileOwner {
  readonly type: 'bot' | 'integration' | 'user';
  readonly id: string;
  readonly name: string;
  readonly alias: string;
}

/** Times are epoch milliseconds. */
export interface StoredFile {
  readonly id: string;
  readonly botId: string;
  /** '' for a file of the bot itself. */
  readonly integrationId: string;
  readonly key: string;
  /** New with every upsert, so that content sent for an older one finds no file. */
  readonly uploadId: string;
  readonly sizeBytes: number;
  readonly indexed: boolean;
  readonly expiresAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** When the store had every byte. */
  readonly uploadedAt: number | null;
  /** Null until the store has the content. */
  readonly life: FileLife | null;
  readonly contentType: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly accessPolicies: readonly AccessPolicy[];
  readonly publicImmediately: boolean;
  readonly indexingStack: string;
  readonly owner: FileOwner;
}

/**
 * The future of a file, decided when its content arrives and shown as time passes. Times are epoch milliseconds.
 * Source: platform-operations.md, What is said about a file's life.
 */
export interface FileLife {
  /** When the platform notices the content. */
  readonly noticedAt: number;
  /** Why the content is refused, or null. */
  readonly uploadFailure: string | null;
  /** When indexing begins. */
  readonly indexingFrom: number;
  /** When indexing ends. */
  readonly indexedAt: number;
  /** Why indexing fails, or null. */
  readonly indexingFailure: string | null;
}

export function hasContent(file: StoredFile): boolean {
  return file.uploadedAt !== null && file.life?.uploadFailure === null;
}

/** In the order of a file's life. Source: platform-operations.md, What is said about a file's life. */
export const FILE_STATUSES = [
  'upload_pending',
  'upload_failed',
  'upload_completed',
  'indexing_pending',
  'indexing_in_progress',
  'indexing_failed',
  'indexing_completed',
] as const;

export type FileStatus = (typeof FILE_STATUSES)[number];

/** Returns the life of a file whose last byte arrives `now`. `exceeded`: the limit that it exceeds, or null. */
export function beginLife(
  file: StoredFile,
  exceeded: string | null,
  settings: Settings,
  conditions: Conditions,
  now: number,
): FileLife {
  const failing = conditions.get('failing-uploads');
  const refused = failing !== null && isMatch(file.key, failing.keys) ? failing.reason : null;
  const noticedAt = later(now, conditions.get('slow-notice')?.delayMs ?? 0);
  return {
    noticedAt,
    uploadFailure: exceeded ?? refused,
    ...indexingLife(file, settings, conditions, noticedAt),
  };
}

/** The indexing part of a life that begins at `from`. */
export function indexingLife(
  file: StoredFile,
  settings: Settings,
  conditions: Conditions,
  from: number,
): Pick<FileLife, 'indexingFrom' | 'indexedAt' | 'indexingFailure'> {
  const indexingFrom = later(from, settings.indexingDelayMs);
  return {
    indexingFrom,
    indexedAt: later(indexingFrom, settings.indexingProgressMs),
    indexingFailure: findIndexingFailure(file.key, settings, conditions),
  };
}

/** `now`: epoch ms. */
export function statusOf(
  file: StoredFile,
  conditions: Conditions,
  now: number,
): { readonly status: FileStatus; readonly failedStatusReason?: string } {
  const reached = reachedStatus(file, now);
  const again = conditions.get('pending-again');
  const isPendingAgain = again !== null && isMatch(file.key, again.keys ?? '**');
  if (isPendingAgain && reached === 'indexing_completed') return { status: 'indexing_pending' };
  if (isPendingAgain && reached === 'upload_completed') return { status: 'upload_pending' };
  const reason =
    reached === 'upload_failed'
      ? file.life?.uploadFailure
      : reached === 'indexing_failed'
        ? file.life?.indexingFailure
        : null;
  return { status: reached, ...(typeof reason === 'string' && { failedStatusReason: reason }) };
}

/** The reported size: null before the content is noticed, and after it was refused. `now`: epoch ms. */
export function knownSize({ sizeBytes, life }: StoredFile, now: number): number | null {
  return life === null || now < life.noticedAt || life.uploadFailure !== null ? null : sizeBytes;
}

function reachedStatus({ indexed, life }: StoredFile, now: number): FileStatus {
  if (life === null || now < life.noticedAt) return 'upload_pending';
  if (life.uploadFailure !== null) return 'upload_failed';
  if (!indexed) return 'upload_completed';
  if (now < life.indexingFrom) return 'indexing_pending';
  if (now < life.indexedAt) return 'indexing_in_progress';
  return life.indexingFailure === null ? 'indexing_completed' : 'indexing_failed';
}

const compiled = new Map<string, (key: string) => boolean>();

/** Throws `PatternError`. */
function isMatch(key: string, glob: string): boolean {
  let matches = compiled.get(glob);
  if (matches === undefined) {
    matches = compilePattern(glob);
    compiled.set(glob, matches);
  }
  return matches(key);
}

function findIndexingFailure(key: string, settings: Settings, conditions: Conditions): string | null {
  const failing = conditions.get('failing-indexing');
  if (failing !== null && isMatch(key, failing.keys)) return failing.reason;
  if (settings.failIndexing.some((glob) => isMatch(key, glob))) return 'The content could not be indexed';
  const extension = extname(key).slice(1).toLowerCase();
  if (settings.limits.indexableExtensions.includes(extension)) return null;
  const format = extension === '' ? 'files without an extension' : `".${extension}" files`;
  return `Indexing of ${format} is not supported`;
}

/** An infinite delay gives a number that JSON can represent. */
function later(from: number, delayMs: number): number {
  return Math.min(from + delayMs, Number.MAX_SAFE_INTEGER);
}
