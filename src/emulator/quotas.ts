import type { Platform } from './platform.ts';
import type { StoredFile } from './stored-file.ts';

/** An exceeded limit, with the error of the upsert. */
export interface Excess {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

/** Returns the limit that a file would exceed in place of `previous`, or null. Source: interface.md, Limits. */
export function findExcess(
  { sizeBytes, indexed }: Pick<StoredFile, 'sizeBytes' | 'indexed'>,
  previous: StoredFile | null,
  { files, settings: { limits, quotas } }: Platform,
): Excess | null {
  if (sizeBytes > limits.fileBytes)
    return {
      status: 413,
      type: 'LimitExceeded',
      message: `size: a file is at most ${limits.fileBytes} bytes`,
    };
  if (indexed && sizeBytes > limits.indexBytes) {
    const message = `size: files larger than ${limits.indexBytes} bytes cannot be indexed`;
    return { status: 400, type: 'InvalidPayload', message };
  }
  // Adding up the usage takes time with many files.
  if (Object.values(quotas).every((quota) => quota === Infinity)) return null;
  const used = files.usage(null);
  const freed = typeof previous?.life?.uploadFailure === 'string' ? null : previous;
  const freedFromIndex = freed?.indexed === true ? freed : null;
  const wanted: [name: string, afterwards: number, quota: number][] = [
    ['File Storage', used.bytes - (freed?.sizeBytes ?? 0) + sizeBytes, quotas.fileStorageBytes],
  ];
  if (indexed)
    wanted.push(
      [
        'Vector DB Storage',
        used.vectorBytes - (freedFromIndex?.sizeBytes ?? 0) + sizeBytes,
        quotas.vectorStorageBytes,
      ],
      ['Indexed Files', used.indexedFiles - (freedFromIndex === null ? 0 : 1) + 1, quotas.indexedFiles],
    );
  const exceeded = wanted.find(([, afterwards, quota]) => afterwards > quota);
  if (exceeded === undefined) return null;
  return { status: 403, type: 'QuotaExceeded', message: `The ${exceeded[0]} quota would be exceeded` };
}
