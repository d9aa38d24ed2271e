/** Positions on the round of a source's files, by the hashes of their paths. */
const POSITIONS = 2 ** 32;

/**
 * The time in which every file whose fingerprint does not show every change is reread, milliseconds: less than a day, so that
 * daily passes reread all of them.
 */
const ROUND_MS = 20 * 3_600_000;

/** The fastest rate of rereading, bytes a millisecond: four megabytes a second. */
const BYTES_A_MS = 4_000;

/** The progress of the round: everything up to `position` was reread by `atMs` (epoch milliseconds). */
export interface RereadState {
  readonly position: number;
  readonly atMs: number;
}

export interface RereadPart {
  readonly from: number;
  readonly length: number;
}

/** Returns the state before the first reread: files were read when they were sent. */
export function firstRereadState(nowMs: number): RereadState {
  return { position: 0, atMs: nowMs };
}

/**
 * Returns the part of the round that is due, in proportion to the elapsed time.
 *
 * @param totalBytes - of all files on the round.
 */
export function rereadPart({ position, atMs }: RereadState, nowMs: number, totalBytes: number): RereadPart {
  const roundMs = Math.max(ROUND_MS, totalBytes / BYTES_A_MS);
  const elapsedMs = Math.max(0, nowMs - atMs);
  return { from: position, length: Math.floor(POSITIONS * Math.min(1, elapsedMs / roundMs)) };
}

export function isOnPart(path: string, { from, length }: RereadPart): boolean {
  return (positionOf(path) - from + POSITIONS) % POSITIONS < length;
}

export function afterPart({ from, length }: RereadPart, nowMs: number): RereadState {
  return { position: (from + length) % POSITIONS, atMs: nowMs };
}

/** FNV-1a with the final mix of MurmurHash3, which spreads similar names. */
function positionOf(path: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < path.length; at++) hash = Math.imul(hash ^ path.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
