import type { Platform } from './platform.ts';
import type { StoredFile } from './stored-file.ts';

/** The quota that would be exceeded if this came in place of `previous`, or null. Source: interface.md, Limits. */
export function findExceededQuota(
  coming: Pick<StoredFile, 'sizeBytes' | 'indexed'>,
  previous: StoredFile | null,
  platform: Platform,
): string | null {
  const { files } = platform;
  const { quotas } = platform.settings;
  const freed = usageOf(previous);
  if (files.fileBytes - freed.bytes + coming.sizeBytes > quotas.fileStorageBytes) return 'File Storage';
  if (!coming.indexed) return null;
  if (files.vectorBytes - freed.vectorBytes + coming.sizeBytes > quotas.vectorStorageBytes)
    return 'Vector DB Storage';
  return files.indexedFiles - freed.indexedFiles + 1 > quotas.indexedFiles ? 'Indexed Files' : null;
}

/**
 * Why content that has arrived is over a limit, or null. Only where an upsert did not look at the limits already: the
 * condition `late-limits`. Source: platform-operations.md, What is said about a file's life.
 */
export function findExceededLimit(file: StoredFile, platform: Platform): string | null {
  if (platform.conditions.get('late-limits') === null) return null;
  const { limits } = platform.settings;
  if (file.sizeBytes > limits.fileBytes) return `A file is at most ${limits.fileBytes} bytes`;
  if (file.indexed && file.sizeBytes > limits.indexBytes)
    return `Files larger than ${limits.indexBytes} bytes cannot be indexed`;
  const quota = findExceededQuota(file, file, platform);
  return quota === null ? null : `The ${quota} quota has been exceeded`;
}

function usageOf(file: StoredFile | null): { bytes: number; vectorBytes: number; indexedFiles: number } {
  if (file === null || typeof file.life?.uploadFailure === 'string')
    return { bytes: 0, vectorBytes: 0, indexedFiles: 0 };
  const { sizeBytes, indexed } = file;
  return { bytes: sizeBytes, vectorBytes: indexed ? sizeBytes : 0, indexedFiles: indexed ? 1 : 0 };
}
