import type { ClusterView, UnitRow } from '../cluster/membership.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { EXIT } from '../domain/exit-code.ts';
import { asked, demandLedger } from '../library/cluster/open-cluster.ts';
import { wakeHosts } from '../library/cluster/wake-hosts.ts';
import { withCluster } from '../library/cluster/with-cluster.ts';
import { findHolder } from '../service/process-lock.ts';
import { UsageError } from './usage-error.ts';

/** What is wanted of whoever keeps a source, or of all. */
export interface AskedOfHolders {
  readonly kind: 'approve' | 'rescan';
  /** A source; `null`: all. */
  readonly source: string | null;
  /** A file or directory of it; `null`: all of it. */
  readonly path: string | null;
}

/** A host that was asked through the ledger, and for which source. */
export interface AskedHost {
  readonly host: string;
  readonly source: string;
}

/** Who was asked, and whether the daemon of this host is still to be. */
export interface AskedHolders {
  readonly others: readonly AskedHost[];
  readonly isHere: boolean;
}

/**
 * Asks the hosts that hold the units of sources, but for this one, to do what is wanted: it stands in the ledger until they take it
 * up, with their next beat at the latest. Throws `UsageError` where nobody could.
 */
export async function askHolders(
  loaded: LoadedConfig,
  env: NodeJS.ProcessEnv,
  { kind, source, path }: AskedOfHolders,
): Promise<AskedHolders> {
  const { config } = loaded;
  const isRunning = findHolder(config.stateFile) !== null;
  return await withCluster(loaded, env, async (cluster) => {
    await demandLedger(cluster);
    const { membership } = cluster;
    const own = cluster.config.host;
    const view = await asked(() => membership.look(), cluster.config);
    const wanted = config.sources.filter(({ name }) => source === null || name === source);
    const others: (AskedHost & { readonly unit: number })[] = [];
    let isHere = source === null && isRunning;
    for (const { name, host } of wanted) {
      const holder = host === null ? holderOf(view, name) : { host, unit: null };
      if (holder?.host === own) isHere = true;
      else if (holder !== null && holder.unit !== null)
        others.push({ source: name, host: holder.host, unit: holder.unit });
      else if (source !== null) throw nobody(source, holder?.host ?? null);
    }
    if (others.length === 0 && !isHere) throw nobody(null, null);
    await asked(async () => {
      for (const { unit, source: name } of others) await membership.wish(unit, kind, { source: name, path });
      if (others.length > 0) await wakeHosts(cluster);
    }, cluster.config);
    return { others: others.map(({ host, source: name }) => ({ host, source: name })), isHere };
  });
}

/** Who holds the unit of a source; `null`: nobody. */
function holderOf({ units }: ClusterView, source: string): { host: string; unit: number } | null {
  const unit = units.find(
    (one: UnitRow) =>
      // A unit that no configuration has any more may have had it.
      one.pinned === null && one.holder !== null && one.sources.some(({ name }) => name === source),
  );
  return unit === undefined || unit.holderHost === null ? null : { host: unit.holderHost, unit: unit.id };
}

/** @param pinnedTo - the host that alone keeps the source; `null`: it is of a unit, or no one source was named. */
function nobody(source: string | null, pinnedTo: string | null): UsageError {
  const message =
    pinnedTo !== null
      ? `the source "${source ?? ''}" is pinned to ${pinnedTo}; run this command there`
      : `${source === null ? 'no source' : `the source "${source}"`} is ${source === null ? '' : 'not '}kept by a host just now; see botsync cluster status`;
  return new UsageError(message, EXIT.incomplete);
}
