import type { Halt } from '../domain/guard.ts';
import type { Topic } from '../domain/notice.ts';
import type { Obstacle } from '../domain/obstacle.ts';

/** A present problem that notifications report. */
export type Trouble =
  /** Files of a source that are not in sync, with the path and reason of the first. */
  | {
      readonly kind: 'failing';
      readonly source: string;
      readonly count: number;
      readonly path: string;
      readonly reason: string | Obstacle;
    }
  /** The platform is unreachable, and all files wait. */
  | { readonly kind: 'out-of-reach' }
  | { readonly kind: 'halted'; readonly source: string; readonly halt: Halt }
  /** Files of a source that could not be renewed in time. */
  | { readonly kind: 'expiring'; readonly source: string; readonly count: number }
  | { readonly kind: 'credentials'; readonly reason: string }
  /** The configuration on disk cannot be loaded, and an older one is in use. */
  | { readonly kind: 'configuration'; readonly reason: string };

/** Identifies a trouble: a subject has one at a time. */
export type Subject =
  | { readonly kind: 'failing' | 'halted' | 'expiring'; readonly source: string }
  | { readonly kind: 'out-of-reach' | 'credentials' | 'configuration'; readonly source: null };

export interface Snapshot {
  /** The present sources: others have no notices any more. */
  readonly sources: readonly string[];
  readonly troubles: readonly Trouble[];
  /** Subjects whose state is unknown now: their last state counts. */
  readonly unknown: readonly Subject[];
}

export function subjectOf(trouble: Trouble): Subject {
  switch (trouble.kind) {
    case 'failing':
    case 'halted':
    case 'expiring':
      return { kind: trouble.kind, source: trouble.source };
    case 'out-of-reach':
    case 'credentials':
    case 'configuration':
      return { kind: trouble.kind, source: null };
  }
}

/** Returns the name of a subject in the state file, JSON. */
export function nameOf({ kind, source }: Subject): string {
  return JSON.stringify(source === null ? [kind] : [kind, source]);
}

/** Parses a name of `nameOf`; `null`: an older or newer botsync wrote it. */
export function subjectNamed(name: string): Subject | null {
  const [kind, source] = JSON.parse(name) as readonly [string, string?];
  switch (kind) {
    case 'failing':
    case 'halted':
    case 'expiring':
      return source === undefined ? null : { kind, source };
    case 'out-of-reach':
    case 'credentials':
    case 'configuration':
      return { kind, source: null };
    default:
      return null;
  }
}

/** Returns the topic in `notify.on` of a subject. */
export function topicOf({ kind }: Subject): Topic {
  return kind === 'out-of-reach' || kind === 'configuration' ? 'failing' : kind;
}

/** Returns the number of files of a trouble; 1 if it is not about files. */
export function sizeOf(trouble: Trouble): number {
  return 'count' in trouble ? trouble.count : 1;
}

/** A recent trouble. Times in epoch milliseconds. */
export interface Sighting {
  readonly trouble: Trouble;
  /** Since when the subject has a trouble. */
  readonly sinceMs: number;
  /** The last snapshot that showed it as large as this. */
  readonly lastMs: number;
}

/** Recent troubles by the name of their subject. */
export type Sightings = ReadonlyMap<string, Sighting>;

/**
 * Adds a snapshot to recent troubles. A file that is rescanned is neither in sync nor failing for a moment, so a trouble that
 * shrank or vanished counts as before until it has stayed so for `settleMs`.
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

/** After the clock was set back nothing is fresh, so that nothing lasts forever. */
function isFresh({ lastMs }: Sighting, nowMs: number, settleMs: number): boolean {
  return nowMs >= lastMs && nowMs - lastMs < settleMs;
}
