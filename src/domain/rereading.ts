/** Positions on the round on which all files of a source stand, by their paths. */
const POSITIONS = 2 ** 32;

/**
 * A file whose fingerprint does not show every change is read again after this long, milliseconds: less than a day, so
 * that passes that are made once a day read all.
 */
const ROUND_MS = 20 * 3_600_000;

/** But all together no faster than this, bytes a millisecond: four megabytes a second. */
const BYTES_A_MS = 4_000;

/** How far the round has come: all up to `position` were read again, at `atMs` (epoch milliseconds). */
export interface RereadState {
  readonly position: number;
  readonly atMs: number;
}

/** The part of the round that is read now: from a position on, so many of them. */
export interface RereadPart {
  readonly from: number;
  readonly length: number;
}

/** A source of which nothing was read again yet: it was read when it was sent. */
export function firstRereadState(nowMs: number): RereadState {
  return { position: 0, atMs: nowMs };
}

/**
 * What is to be read again now: as much of the round as time has passed since.
 *
 * @param totalBytes - of all the files on it.
 */
export function rereadPart({ position, atMs }: RereadState, nowMs: number, totalBytes: number): RereadPart {
  const roundMs = Math.max(ROUND_MS, totalBytes / BYTES_A_MS);
  const elapsedMs = Math.max(0, nowMs - atMs);
  return { from: position, length: Math.floor(POSITIONS * Math.min(1, elapsedMs / roundMs)) };
}

/** Whether a file stands on a part of the round. */
export function isOnPart(path: string, { from, length }: RereadPart): boolean {
  return (positionOf(path) - from + POSITIONS) % POSITIONS < length;
}

/** How far the round has come once a part of it was read. */
export function afterPart({ from, length }: RereadPart, nowMs: number): RereadState {
  return { position: (from + length) % POSITIONS, atMs: nowMs };
}

/** FNV-1a with the last steps of MurmurHash3, which spread what similar names have in common. */
function positionOf(path: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < path.length; at++) hash = Math.imul(hash ^ path.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
