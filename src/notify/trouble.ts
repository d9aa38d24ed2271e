import type { Topic } from '../domain/notice.ts';

/** Something that is not as it should be, as it stands now. */
export type Trouble =
  /** Files of a source that are not on the platform as they are here, with the first of them. */
  | {
      readonly kind: 'failing';
      readonly source: string;
      readonly count: number;
      readonly path: string;
      readonly reason: string;
    }
  /** Nothing answers, so that all files wait. `from`: those of several hosts for which that is so. */
  | { readonly kind: 'out-of-reach'; readonly from?: readonly string[] }
  /** No host of a cluster syncs a source. `silent`: the host that has it, of which nothing is heard; `null`: none has. */
  | { readonly kind: 'unsynced'; readonly source: string; readonly silent: string | null }
  | { readonly kind: 'halted'; readonly source: string; readonly reason: string }
  /** Files of a source that could not be sent again when it was time. */
  | { readonly kind: 'expiring'; readonly source: string; readonly count: number }
  | { readonly kind: 'credentials'; readonly reason: string };

/** What a trouble is about: there is one trouble a subject at a time. */
export type Subject =
  | { readonly kind: 'failing' | 'halted' | 'expiring' | 'unsynced'; readonly source: string }
  | { readonly kind: 'out-of-reach' | 'credentials'; readonly source: null };

/** How everything stands at a moment. */
export interface Snapshot {
  /** The sources that there are: of others nothing is told any more. */
  readonly sources: readonly string[];
  readonly troubles: readonly Trouble[];
  /** Of these nobody can tell now whether there is a trouble: what is known of them stays. */
  readonly unknown: readonly Subject[];
}

/** What a trouble is about. */
export function subjectOf(trouble: Trouble): Subject {
  switch (trouble.kind) {
    case 'failing':
    case 'halted':
    case 'expiring':
    case 'unsynced':
      return { kind: trouble.kind, source: trouble.source };
    case 'out-of-reach':
    case 'credentials':
      return { kind: trouble.kind, source: null };
  }
}

/** A subject's name in records: JSON. */
export function nameOf({ kind, source }: Subject): string {
  return JSON.stringify(source === null ? [kind] : [kind, source]);
}

/** The subject of a name in records; `null` for one that an older or newer botsync wrote. */
export function subjectNamed(name: string): Subject | null {
  const [kind, source] = JSON.parse(name) as readonly [string, string?];
  switch (kind) {
    case 'failing':
    case 'halted':
    case 'expiring':
    case 'unsynced':
      return source === undefined ? null : { kind, source };
    case 'out-of-reach':
    case 'credentials':
      return { kind, source: null };
    default:
      return null;
  }
}

/** Under what people ask to hear of it. */
export function topicOf({ kind }: Subject): Topic {
  return kind === 'out-of-reach' || kind === 'unsynced' ? 'failing' : kind;
}

/** How many files it is about; 1 where it is no matter of files. */
export function sizeOf(trouble: Trouble): number {
  return 'count' in trouble ? trouble.count : 1;
}
