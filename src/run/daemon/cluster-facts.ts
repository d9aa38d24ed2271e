import type { UnitRow } from '../../cluster/shared-ledger.ts';
import { toldHindrances } from '../../domain/hindrance.ts';
import { whyUntaken } from '../../domain/unit.ts';
import type { ClusterFacts, HostFacts, UnitFacts } from '../../domain/cluster-status.ts';
import { hindranceStatus } from '../../words/halt.ts';
import type { SourceConfig, Config } from '../../config/config.ts';
import type { SourceStatus } from '../../domain/status.ts';
import type { ClusterSituation } from '../cluster/cluster-situation.ts';

type SeenCluster = Pick<ClusterPort, 'situation' | 'reports'>;

/** Returns the facts of a cluster as this host sees them. */
export function clusterFacts({ situation, reports }: SeenCluster): ClusterFacts {
  const { host, trouble, view, alive, held, blocked, failed, own, hindrances } = situation;
  const configured = new Set(own.map(({ id }) => id));
  const differing = new Set(hindrances.flatMap((one) => (one.kind === 'differing' ? [one.source] : [])));
  const { units = [], hosts = [] } = view ?? {};
  const names = new Set(alive.map(({ name }) => name));
  return {
    ...{ host, trouble, held },
    units: units.flatMap((row) => {
      // A source with other settings in the ledger is in none of this host's own units.
      const isConfigured = configured.has(row.id) || row.sources.some(({ name }) => differing.has(name));
      // Units that no configuration has any more stay in the ledger.
      const isUsed = isConfigured || row.holder !== null || alive.some((one) => one.units.includes(row.id));
      if (!isUsed) return [];
      return [
        {
          ...unitFacts(row),
          isConfigured,
          isHalted: blocked.has(row.name),
          whyUntaken: whyUntaken(row.id, alive),
        },
      ];
    }),
    hosts: hosts.map((row): HostFacts => {
      const isAlive = names.has(row.name);
      const refusal = isAlive ? (reports.get(row.name)?.refusal ?? null) : null;
      return {
        ...{ name: row.name, version: row.version, alive: isAlive },
        isMe: row.name === host,
        hindrances: isAlive ? toldHindrances(row, alive).map(hindranceStatus) : [],
        ...(refusal !== null && { refusal }),
      };
    }),
    blocked: Object.fromEntries(blocked),
    failed: Object.fromEntries(failed),
  };
}

function unitFacts(row: UnitRow): Omit<UnitFacts, 'isConfigured' | 'isHalted' | 'whyUntaken'> {
  const { name, epoch, holder, holderHost } = row;
  return {
    ...{ name, epoch },
    sources: row.sources.map((source) => source.name),
    holderHost: holder === null ? null : holderHost,
  };
}

/** Returns the unit of a configured source; `undefined`: the ledger has none. */
export function unitOf(cluster: ClusterFacts, { name }: SourceConfig): UnitFacts | undefined {
  return cluster.units.find(({ sources, isConfigured }) => sources.includes(name) && isConfigured);
}

/** Returns whether this host syncs a source. */
export function isSyncedHere(cluster: ClusterFacts, source: SourceConfig): boolean {
  const unit = unitOf(cluster, source);
  return unit !== undefined && cluster.held.includes(unit.name);
}

/** Returns the status of sources that other hosts sync, as far as they reported it. */
export function sourcesElsewhere(
  { sources }: Pick<Config, 'sources'>,
  cluster: ClusterFacts,
  reports: ReadonlyMap<string, Pick<HostReport, 'sources'>>,
): SourceStatus[] {
  return sources.flatMap((source): SourceStatus[] => {
    const holder = unitOf(cluster, source)?.holderHost ?? null;
    if (holder === null || holder === cluster.host || isSyncedHere(cluster, source)) return [];
    const said = reports
      .get(holder)
      ?.sources.find(({ name, syncedBy }) => name === source.name && syncedBy === undefined);
    return said === undefined ? [] : [{ ...said, syncedBy: holder }];
  });
}

export interface HostReport {
  readonly sources: readonly SourceStatus[];
  /** Why the platform refuses the host's credentials; `null`: it does not. */
  readonly refusal: string | null;
}

/** A request to the host that syncs a source. */
export type HostCommand =
  /** `halt`: its digest, see `haltDigest`. */
  | { readonly kind: 'approve'; readonly source: string; readonly halt: string }
  | { readonly kind: 'rescan'; readonly source: string; readonly path: string | null }
  | PruneCommand;

/** Asks to remove kept files of a source. `digest`: see `digestOfKept`; `glob`: only files whose path matches. */
export interface PruneCommand {
  readonly kind: 'prune';
  readonly source: string;
  readonly glob: string | null;
  readonly digest: string;
}

/** The result of a command: its host will see it, no host syncs the source, or the database failed. */
export type CommandOutcome =
  | { readonly kind: 'passed-on'; readonly host: string }
  | { readonly kind: 'nobody' }
  | { readonly kind: 'failed'; readonly reason: string };

/** A host's part in a cluster, for answering requests. */
export interface ClusterPort {
  readonly situation: ClusterSituation;
  /** The last known reports, by host name. */
  readonly reports: ReadonlyMap<string, HostReport>;
  /** Fetches the reports of the hosts unless they are fresh. Always resolves, and soon. */
  readonly look: () => Promise<void>;
  /** Passes a command to the host that syncs its source. */
  readonly command: (command: HostCommand) => Promise<CommandOutcome>;
}
