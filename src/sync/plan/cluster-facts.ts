import type { WhyUntaken } from '../../domain/unit-moves.ts';
import type { SourceStatus } from './overview.ts';

/** A cluster as one of its hosts sees it: the `cluster` of `botsync status --json`. */
export interface ClusterFacts {
  /** This host. */
  readonly host: string;
  /** Why this host cannot take part; `null`: it can. The rest is then as it was heard of last. */
  readonly trouble: string | null;
  /** Names of the units that this host holds. */
  readonly held: readonly string[];
  /** The host that sends notifications for this one; `null`: none does. */
  readonly notifier: string | null;
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
  /** The host that holds it; `null`: none does. A pinned unit is held by its host, whether that runs or not. */
  readonly holderHost: string | null;
  /** How often it was taken. */
  readonly epoch: number;
  /** The host that alone may have it, by its own state file; `null`: any may. */
  readonly pinned: string | null;
  /** Whether this host's configuration has it, if only pinned to another host. */
  readonly isConfigured: boolean;
  /** Whether nobody may sync it, because its keys may be those of another unit. */
  readonly isHalted: boolean;
  /** Why no host that is up could take it; `null`: one could, or it is pinned. */
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
  /** Its share of the budget, requests a second, as it said last; `null`: that is not known, or it is silent. */
  readonly share: number | null;
  /** Whether it would treat what it shares with this host as this host does. */
  readonly sameConfig: boolean;
  /** What the platform said when it refused the credentials of this host, as it said last; without it: it does not, or is silent. */
  readonly refusal?: string;
}

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
  /** Hosts that would treat shared files otherwise. */
  | { readonly kind: 'differing-hosts'; readonly hosts: readonly string[] }
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
  ...(['cluster', 'blocked-unit', 'free-unit', 'differing-hosts', 'elsewhere'] as const),
]);

/** What is wrong in a cluster. */
export function clusterTroubles(cluster: ClusterFacts, sources: readonly SourceStatus[]): ClusterTrouble[] {
  const { trouble, units, hosts, held, blocked, failed } = cluster;
  const alive = new Set(hosts.filter((one) => one.alive).map(({ name }) => name));
  const free = units.flatMap(({ name, pinned, holderHost, isConfigured, whyUntaken }): ClusterTrouble[] => {
    if (!isConfigured || Object.hasOwn(blocked, name)) return [];
    // A host that ended in order has left the list.
    if (pinned !== null && !hosts.some((one) => one.name === pinned)) return [];
    // The ledger tells of what this host took with the next beat.
    if (held.includes(name)) return [];
    if (holderHost !== null && alive.has(holderHost)) return [];
    const reason = failed[name] ?? null;
    return [{ kind: 'free-unit', unit: name, silent: holderHost, reason, whyUntaken }];
  });
  const differing = hosts.filter((one) => one.alive && !one.sameConfig).map(({ name }) => name);
  return [
    ...(trouble === null ? [] : [{ kind: 'cluster' as const, reason: trouble }]),
    ...Object.entries(blocked).map(([unit, reason]) => ({ kind: 'blocked-unit' as const, unit, reason })),
    // Nothing is heard of anybody while the database is out of reach.
    ...(trouble === null ? free : []),
    ...(trouble === null && differing.length > 0
      ? [{ kind: 'differing-hosts' as const, hosts: differing }]
      : []),
    ...sources.flatMap((source) => elsewhere(source, hosts)),
  ];
}

function elsewhere(source: SourceStatus, hosts: readonly HostFacts[]): ClusterTrouble[] {
  const { name, syncedBy, failed, refused, problems, pending, unsearchable } = source;
  const files = failed + refused + problems + pending + unsearchable;
  if (syncedBy === undefined || files === 0) return [];
  const { refusal = null } = hosts.find((host) => host.name === syncedBy) ?? {};
  return [{ kind: 'elsewhere', source: name, host: syncedBy, files, refusal }];
}
