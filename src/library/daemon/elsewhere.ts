import type { Config, SourceConfig } from '../../config/config.ts';
import type { ClusterStanding, UnitStanding } from '../../sync/plan/cluster-standing.ts';
import type { SourceStatus } from '../../sync/plan/overview.ts';

/** The unit that a source of this host's configuration is in; `undefined`: the ledger has none. */
export function unitOf(cluster: ClusterStanding, { name, host }: SourceConfig): UnitStanding | undefined {
  return cluster.units.find(
    ({ sources, pinned, isConfigured }) =>
      sources.includes(name) && pinned === host && (isConfigured || host !== null),
  );
}

/** Whether a source is this host's to sync. */
export function isSyncedHere(cluster: ClusterStanding, source: SourceConfig): boolean {
  const unit = unitOf(cluster, source);
  if (source.host !== null)
    return source.host === cluster.host && !(unit !== undefined && unit.name in cluster.blocked);
  return unit !== undefined && cluster.held.includes(unit.name);
}

/** How sources of a configuration stand that other hosts sync, as far as these have said. */
export function sourcesElsewhere(
  { sources }: Pick<Config, 'sources'>,
  cluster: ClusterStanding,
  reports: ReadonlyMap<string, readonly SourceStatus[]>,
): SourceStatus[] {
  return sources.flatMap((source): SourceStatus[] => {
    const holder = unitOf(cluster, source)?.holderHost ?? null;
    if (holder === null || holder === cluster.host || isSyncedHere(cluster, source)) return [];
    const said = reports
      .get(holder)
      ?.find(({ name, syncedBy }) => name === source.name && syncedBy === undefined);
    return said === undefined ? [] : [{ ...said, syncedBy: holder }];
  });
}
