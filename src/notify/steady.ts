import { nameOf, sizeOf, subjectOf, type Snapshot, type Trouble } from './trouble.ts';

/** A trouble as it was seen lately. Times in epoch milliseconds. */
export interface Sighting {
  readonly trouble: Trouble;
  /** Since when there is one on this subject. */
  readonly sinceMs: number;
  /** When it was last seen as large as this. */
  readonly lastMs: number;
}

/** What was seen lately, by the name of its subject. */
export type Sightings = ReadonlyMap<string, Sighting>;

/**
 * Adds a snapshot to what was seen. A file that is rescanned is neither in sync nor failing for moments, so a
 * trouble that shrank or went away counts as it was until it has stayed so for `settleMs`.
 */
export function see(seen: Sightings, snapshot: Snapshot, nowMs: number, settleMs: number): Sightings {
  const unknown = new Set(snapshot.unknown.map(nameOf));
  const next = new Map<string, Sighting>();
  for (const trouble of snapshot.troubles) {
    const name = nameOf(subjectOf(trouble));
    const before = seen.get(name);
    const isSmaller = before !== undefined && sizeOf(trouble) < sizeOf(before.trouble);
    if (isSmaller && isFresh(before, nowMs, settleMs)) next.set(name, before);
    else next.set(name, { trouble, sinceMs: before?.sinceMs ?? nowMs, lastMs: nowMs });
  }
  for (const [name, before] of seen) {
    if (next.has(name)) continue;
    if (unknown.has(name)) next.set(name, { ...before, lastMs: nowMs });
    else if (isFresh(before, nowMs, settleMs)) next.set(name, before);
  }
  return next;
}

/** A clock that was set back makes nothing last forever. */
function isFresh({ lastMs }: Sighting, nowMs: number, settleMs: number): boolean {
  return nowMs >= lastMs && nowMs - lastMs < settleMs;
}
