/**
 * What a file's content is recognised by without reading it; times in nanoseconds since the epoch. `null`: where the file
 * lies there is no such thing, or none that is the same tomorrow.
 */
export interface FileFacts {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint | null;
  readonly ino: bigint | null;
}

/** Picks from a file's `stat` (with `bigint: true`) what means something on the file system that holds it. `path`: absolute. */
export type FactsReader = (stats: FileFacts & { readonly dev: bigint }, path: string) => FileFacts;

/** Size, mtime, ctime and inode as one comparable text. */
export type Fingerprint = string & { readonly fingerprint: unique symbol };

/** The fingerprint of a file. */
export function fingerprintOf(facts: FileFacts): Fingerprint {
  return `${facts.size}:${facts.mtimeNs}:${facts.ctimeNs ?? UNKNOWN}:${facts.ino ?? UNKNOWN}` as Fingerprint;
}

/** Stands in a fingerprint for what is not known; the state file is searched for it. */
const UNKNOWN = '-';

/** Whether no edit leaves a fingerprint as it is: without a ctime one of the same size that sets the mtime back does. */
export function showsEveryChange(fingerprint: Fingerprint): boolean {
  return !fingerprint.endsWith(UNKNOWN);
}

/** The file's size in bytes, read back from its fingerprint. */
export function sizeInFingerprint(fingerprint: Fingerprint): number {
  return Number.parseInt(fingerprint, 10);
}

/** What a renamed or moved file keeps of its fingerprint: size and mtime. */
export function sizeAndMtimeOf(fingerprint: Fingerprint): string {
  return fingerprint.split(':', 2).join(':');
}

/** File systems stamp by a clock that lags behind ours, some by a whole tick of a second or two. */
const RACY_WINDOW_NS = 2_000_000_000n;

/** Where there is no ctime: FAT's tick of two seconds, and a whole one for the clock's lag. */
const COARSE_RACY_WINDOW_NS = 3_000_000_000n;

/**
 * Whether a fingerprint taken when a reading began proves later on that the content is still the one that was read.
 *
 * It does not when the file was modified so shortly before that a later change could carry the same times (git calls
 * such an entry racily clean); then the content has to be hashed again next time. Only the kernel sets a ctime, so
 * where there is one it decides alone: an mtime may be anything, also decades ahead.
 */
export function isTrustworthy({ mtimeNs, ctimeNs }: FileFacts, readingBeganNs: bigint): boolean {
  if (ctimeNs === null) return mtimeNs <= readingBeganNs - COARSE_RACY_WINDOW_NS;
  return ctimeNs <= readingBeganNs - RACY_WINDOW_NS;
}

/** Epoch milliseconds as nanoseconds. */
export function nanoseconds(timeMs: number): bigint {
  return BigInt(Math.floor(timeMs)) * 1_000_000n;
}
