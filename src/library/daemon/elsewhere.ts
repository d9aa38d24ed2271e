import type { Config, SourceConfig } from '../../config/config.ts';
import type { ClusterFacts, UnitFacts } from '../../sync/plan/cluster-facts.ts';
import type { SourceStatus } from '../../sync/plan/overview.ts';
import type { HostReport } from '../cluster/host-reports.ts';

/** The unit that a source of this host's configuration is in; `undefined`: the ledger has none. */
export function unitOf(cluster: ClusterFacts, { name, host }: SourceConfig): UnitFacts | undefined {
  return cluster.units.find(
    ({ sources, pinned, isConfigured }) =>
      sources.includes(name) && pinned === host && (isConfigured || host !== null),
  );
}

/** Whether a source is this host's to sync. */
export function isSyncedHere(cluster: ClusterFacts, source: SourceConfig): boolean {
  const unit = unitOf(cluster, source);
  if (source.host !== null)
    return source.host === cluster.host && !(unit !== undefined && Object.hasOwn(cluster.blocked, unit.name));
  return unit !== undefined && cluster.held.includes(unit.name);
}

/** How sources of a configuration stand that other hosts sync, as far as these have said. */
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
