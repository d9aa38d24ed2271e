import type { Hindrance, Unseen, UnseenHalt, FieldDifference } from './hindrance.ts';
import type { WhyUntaken } from './unit.ts';

/** A cluster as seen by one of its hosts: `cluster` in `botsync status --json`. */

export interface ClusterFacts {
  readonly host: string;
  /** Why this host cannot take part; `null`: it can. Then the other fields are from the last contact. */
  readonly trouble: string | null;
  readonly held: readonly string[];
  readonly units: readonly UnitFacts[];
  readonly hosts: readonly HostFacts[];
  /** Units of this host's configuration that no host may sync, with the reason. */
  readonly blocked: Readonly<Record<string, string>>;
  /** Units that this host failed to work on in its last attempt, with the reason. */
  readonly failed: Readonly<Record<string, string>>;
}
/** Sources that one host at a time syncs. */

export interface UnitFacts {
  readonly name: string;
  readonly sources: readonly string[];
  /** `null`: no host holds it. */
  readonly holderHost: string | null;
  /** Number of times that the unit was taken. */
  readonly epoch: number;
  readonly isConfigured: boolean;
  /** No host may sync the unit, because its keys may be those of another unit. */
  readonly isHalted: boolean;
  /** Why no running host could take the unit; `null`: at least one could. */
  readonly whyUntaken: WhyUntaken | null;
}

export interface HostFacts {
  readonly name: string;
  /** Of botsync. */
  readonly version: string;
  /** The host gave a sign of life within the time of a lease. */
  readonly alive: boolean;
  readonly isMe: boolean;
  /** Reasons why the host does not sync sources of its configuration. */
  readonly hindrances: readonly HindranceStatus[];
  /** The platform's error when it last refused this host's credentials; absent: not refused, or the host is silent. */
  readonly refusal?: string;
}
/** A hindrance in status output. `halt`: the kind of halt, `empty` for `no-files`; `reason`: a sentence without its full stop. */
export type HindranceStatus =
  | (Omit<Unseen, 'halt'> & { readonly halt: UnseenHalt['kind'] | 'empty'; readonly reason: string })
  | Exclude<Hindrance, Unseen>;

/** A problem of the cluster, as opposed to problems of sources. */

export type ClusterTrouble =
  /** This host cannot take part. */
  | { readonly kind: 'cluster'; readonly reason: string }
  /** A unit that no host may sync. */
  | { readonly kind: 'blocked-unit'; readonly unit: string; readonly reason: string }
  /**
   * A unit that no host works on. `silent`: its holder, which has been silent lately; `null`: no holder. `reason`: why this host
   * could not work on it; `null`: it did not try. `whyUntaken`: why no running host could take it.
   */
  | {
      readonly kind: 'free-unit';
      readonly unit: string;
      readonly silent: string | null;
      readonly reason: string | null;
      readonly whyUntaken: WhyUntaken | null;
    }
  /** A source that this host does not sync, because the ledger has another configuration of it. */
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

export function isOfCluster(trouble: { readonly kind: string }): trouble is ClusterTrouble {
  return KINDS.has(trouble.kind);
}
const KINDS: ReadonlySet<string> = new Set<ClusterTrouble['kind']>([
  ...(['cluster', 'blocked-unit', 'free-unit', 'differing-source', 'elsewhere'] as const),
]);
