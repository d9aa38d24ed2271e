/** What a file's content is recognised by without reading it; times in nanoseconds since the epoch. */
export interface FileFacts {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly ino: bigint;
}

/** Size, mtime, ctime and inode as one comparable text. */
export type Fingerprint = string & { readonly fingerprint: unique symbol };

/** The fingerprint of a file from its `stat` (with `bigint: true`). */
export function fingerprintOf(facts: FileFacts): Fingerprint {
  return `${facts.size}:${facts.mtimeNs}:${facts.ctimeNs}:${facts.ino}` as Fingerprint;
}

/** The file's size in bytes, read back from its fingerprint. */
export function sizeInFingerprint(fingerprint: Fingerprint): number {
  return Number.parseInt(fingerprint, 10);
}

/** What a renamed or moved file keeps of its fingerprint: size and mtime. */
export function looksOf(fingerprint: Fingerprint): string {
  return fingerprint.split(':', 2).join(':');
}

/** File systems stamp by a clock that lags behind ours, some by a whole tick of two seconds (FAT). */
const RACY_WINDOW_NS = 2_000_000_000n;

/**
 * Whether a fingerprint taken when a reading began proves later on that the content is still the one that was read.
 *
 * It does not when the file was modified so shortly before that a later change could carry the same times (git calls
 * such an entry racily clean); then the content has to be hashed again next time.
 */
export function isTrustworthy(facts: FileFacts, readingBeganNs: bigint): boolean {
  const newestTrusted = readingBeganNs - RACY_WINDOW_NS;
  return facts.mtimeNs <= newestTrusted && facts.ctimeNs <= newestTrusted;
}

/** Epoch milliseconds as nanoseconds. */
export function nanoseconds(timeMs: number): bigint {
  return BigInt(Math.floor(timeMs)) * 1_000_000n;
}
