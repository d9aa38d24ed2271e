import type { Hindrance, Unseen, UnseenHalt } from './hindrance.ts';
import type { FieldDifference } from './source-settings.ts';
import type { WhyUntaken } from './unit-moves.ts';

/** A cluster as one of its hosts sees it: the `cluster` of `botsync status --json`. */

export interface ClusterFacts {
  /** This host. */
  readonly host: string;
  /** Why this host cannot take part; `null`: it can. The rest is then as it was heard of last. */
  readonly trouble: string | null;
  /** Names of the units that this host holds. */
  readonly held: readonly string[];
  readonly units: readonly UnitFacts[];
  readonly hosts: readonly HostFacts[];
  /** Units of this host's configuration that nobody may sync, and why. */
  readonly blocked: Readonly<Record<string, string>>;
  /** Units that this host could not work on when it tried last, and why. */
  readonly failed: Readonly<Record<string, string>>;
}
/** Sources that one host at a time syncs. */

export interface UnitFacts {
  readonly name: string;
  readonly sources: readonly string[];
  /** The host that holds it; `null`: none does. */
  readonly holderHost: string | null;
  /** How often it was taken. */
  readonly epoch: number;
  /** Whether this host's configuration has it. */
  readonly isConfigured: boolean;
  /** Whether nobody may sync it, because its keys may be those of another unit. */
  readonly isHalted: boolean;
  /** Why no host that is up could take it; `null`: one could. */
  readonly whyUntaken: WhyUntaken | null;
}
/** A host that takes part, or did. */

export interface HostFacts {
  readonly name: string;
  /** Of botsync. */
  readonly version: string;
  /** Whether it was heard of within the time of a lease. */
  readonly alive: boolean;
  readonly isMe: boolean;
  /** What keeps it from sources of its configuration. */
  readonly hindrances: readonly HindranceStatus[];
  /** What the platform said when it refused the credentials of this host, as it said last; without it: it does not, or is silent. */
  readonly refusal?: string;
}
/** A hindrance as status output has it. `halt`: the kind of halt, `empty` for `no-files`; `reason`: a sentence without its full stop. */
export type HindranceStatus =
  | (Omit<Unseen, 'halt'> & { readonly halt: UnseenHalt['kind'] | 'empty'; readonly reason: string })
  | Exclude<Hindrance, Unseen>;

/** What is wrong in a cluster, beside what is wrong with sources. */

export type ClusterTrouble =
  /** This host cannot take part. */
  | { readonly kind: 'cluster'; readonly reason: string }
  /** A unit that nobody may sync. */
  | { readonly kind: 'blocked-unit'; readonly unit: string; readonly reason: string }
  /**
   * A unit that nobody holds. `silent`: the host that has it, of which nothing was heard lately; `null`: none has. `reason`: why
   * this host could not work on it; `null`: it did not try. `whyUntaken`: why no host that is up could take it.
   */
  | {
      readonly kind: 'free-unit';
      readonly unit: string;
      readonly silent: string | null;
      readonly reason: string | null;
      readonly whyUntaken: WhyUntaken | null;
    }
  /** A source that this host leaves alone, since the ledger has another configuration of it. */
  | {
      readonly kind: 'differing-source';
      readonly source: string;
      readonly fields: readonly FieldDifference[];
    }
  /** A source that another host syncs, with files that are not in sync. `refusal`: see `HostFacts`; `null`: none. */
  | {
      readonly kind: 'elsewhere';
      readonly source: string;
      readonly host: string;
      readonly files: number;
      readonly refusal: string | null;
    };
/** Whether a trouble is one that only a cluster has. */

export function isOfCluster(trouble: { readonly kind: string }): trouble is ClusterTrouble {
  return KINDS.has(trouble.kind);
}
const KINDS: ReadonlySet<string> = new Set<ClusterTrouble['kind']>([
  ...(['cluster', 'blocked-unit', 'free-unit', 'differing-source', 'elsewhere'] as const),
]);
