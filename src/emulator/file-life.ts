import picomatch from 'picomatch';
import type { Conditions } from './conditions.ts';
import { extensionOf } from './file-extension.ts';
import type { Settings } from './options.ts';
import type { StoredFile } from './stored-file.ts';

/**
 * What becomes of a file whose content has arrived: decided at that moment, and shown as time passes. Times are epoch
 * milliseconds. Source: platform-operations.md, What is said about a file's life.
 */
export interface FileLife {
  /** Until then the platform has not seen that the content is there. */
  readonly noticedAt: number;
  /** Why the content is refused, null when it is taken. */
  readonly uploadFailure: string | null;
  /** From then on it is being indexed. */
  readonly indexingFrom: number;
  /** When indexing ends. */
  readonly indexedAt: number;
  /** Why indexing fails, null when it succeeds. */
  readonly indexingFailure: string | null;
}

/** The life of a file whose last byte arrives `now`. `exceeded`: the limit that it is over, null when it is over none. */
export function beginLife(
  file: StoredFile,
  exceeded: string | null,
  settings: Settings,
  conditions: Conditions,
  now: number,
): FileLife {
  const failing = conditions.get('failing-uploads');
  const refused = failing !== null && isMatch(file.key, failing.keys) ? failing.reason : null;
  const noticedAt = later(now, conditions.get('slow-notice')?.delayMs ?? settings.noticeDelayMs);
  return {
    noticedAt,
    uploadFailure: exceeded ?? refused,
    ...indexingLife(file, settings, conditions, noticedAt),
  };
}

/** The part of a life that is the index; it begins at `from`. */
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

/** The size that is told of a file: null until its content is there and noticed. `now`: epoch ms. */
export function knownSize(
  { sizeBytes, life }: Pick<StoredFile, 'sizeBytes' | 'life'>,
  now: number,
): number | null {
  return life === null || now < life.noticedAt || life.uploadFailure !== null ? null : sizeBytes;
}

/** Whether a key matches one of these globs. */
export function isMatch(key: string, globs: string | readonly string[]): boolean {
  return picomatch.isMatch(key, [globs].flat(), { dot: true });
}

function findIndexingFailure(key: string, settings: Settings, conditions: Conditions): string | null {
  const failing = conditions.get('failing-indexing');
  if (failing !== null && isMatch(key, failing.keys)) return failing.reason;
  if (isMatch(key, settings.failIndexing)) return 'The content could not be indexed';
  const extension = extensionOf(key);
  if (settings.limits.indexableExtensions.includes(extension)) return null;
  const format = extension === '' ? 'files without an extension' : `".${extension}" files`;
  return `Indexing of ${format} is not supported`;
}

/** Never, for a delay that is infinite, as a number that JSON can hold. */
function later(from: number, delayMs: number): number {
  return Math.min(from + delayMs, Number.MAX_SAFE_INTEGER);
}
