/**
 * File attributes that identify content without reading it; times in nanoseconds since the epoch. `null`: the file system does
 * not have the attribute, or does not keep it stable.
 */
export interface FileFacts {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint | null;
  readonly ino: bigint | null;
}

/** Selects the attributes from a file's `stat` (with `bigint: true`) that are stable on its file system. `path`: absolute. */
export type FactsReader = (stats: FileFacts & { readonly dev: bigint }, path: string) => FileFacts;

/** Size, mtime, ctime and inode as one comparable text. */
export type Fingerprint = string & { readonly fingerprint: unique symbol };

export function fingerprintOf(facts: FileFacts): Fingerprint {
  return `${facts.size}:${facts.mtimeNs}:${facts.ctimeNs ?? UNKNOWN}:${facts.ino ?? UNKNOWN}` as Fingerprint;
}

/** The placeholder for an unknown attribute; state files are searched for it. */
const UNKNOWN = '-';

/**
 * Returns whether every edit changes the fingerprint: without a ctime, an edit that keeps the size and sets the mtime back does
 * not.
 */
export function showsEveryChange(fingerprint: Fingerprint): boolean {
  return !fingerprint.endsWith(UNKNOWN);
}

export function sizeInFingerprint(fingerprint: Fingerprint): number {
  return Number.parseInt(fingerprint, 10);
}

/** Returns the part of a fingerprint that survives a rename or move: size and mtime. */
export function sizeAndMtimeOf(fingerprint: Fingerprint): string {
  return fingerprint.split(':', 2).join(':');
}

/** Clocks of file systems lag behind the system clock, some by a whole tick of a second or two. */
const RACY_WINDOW_NS = 2_000_000_000n;

/** For file systems without a ctime: FAT's tick of two seconds, and another second for the clock's lag. */
const COARSE_RACY_WINDOW_NS = 3_000_000_000n;

/**
 * Returns whether a fingerprint taken at the start of a read proves later that the content is still the same.
 *
 * It proves nothing when the file was modified so shortly before that a later change could have the same times (git calls such an
 * entry racily clean). A ctime, where there is one, decides alone: only the kernel sets it, while an mtime may be anything.
 */
export function isTrustworthy({ mtimeNs, ctimeNs }: FileFacts, readingBeganNs: bigint): boolean {
  if (ctimeNs === null) return mtimeNs <= readingBeganNs - COARSE_RACY_WINDOW_NS;
  return ctimeNs <= readingBeganNs - RACY_WINDOW_NS;
}

/** Converts epoch milliseconds. */
export function nanoseconds(timeMs: number): bigint {
  return BigInt(Math.floor(timeMs)) * 1_000_000n;
}
