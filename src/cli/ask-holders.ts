import type { ClusterView, UnitRow } from '../cluster/shared-ledger.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { EXIT } from '../domain/exit-code.ts';
import { asked, demandLedger, withCluster } from '../run/cluster/open-cluster.ts';
import type { HostCommand } from '../run/daemon/cluster-facts.ts';
import { findHolder } from '../service/process-lock.ts';
import { UsageError } from './usage-error.ts';

export interface AskedOfHolders {
  readonly kind: HostCommand['kind'];
  /** `null` for all sources. */
  readonly source: string | null;
  /** Further fields of the command. */
  readonly terms: Readonly<Record<string, string | null>>;
}

export interface AskedHost {
  readonly host: string;
  readonly source: string;
}

/** `isHere`: the daemon of this host must be asked, too. */
export interface AskedHolders {
  readonly others: readonly AskedHost[];
  readonly isHere: boolean;
}

/**
 * Sends a command through the ledger to the other hosts that hold the units of sources: they execute it with their next heartbeat
 * at the latest. Throws `UsageError` if no host holds them.
 */
export async function askHolders(
  loaded: LoadedConfig,
  env: NodeJS.ProcessEnv,
  { kind, source, terms }: AskedOfHolders,
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
    for (const { name } of wanted) {
      const holder = holderOf(view, name);
      if (holder?.host === own) isHere = true;
      else if (holder !== null) others.push({ source: name, host: holder.host, unit: holder.unit });
      else if (source !== null) throw nobody(source);
    }
    if (others.length === 0 && !isHere) throw nobody(null);
    await asked(async () => {
      for (const { unit, source: name } of others)
        await membership.addCommand(unit, kind, { source: name, ...terms });
      if (others.length > 0) await cluster.messages.wake(cluster.config.host);
    }, cluster.config);
    return { others: others.map(({ host, source: name }) => ({ host, source: name })), isHere };
  });
}

/** Returns the holder of the unit of a source; `null` without one. */
function holderOf({ units }: ClusterView, source: string): { host: string; unit: number } | null {
  const unit = units.find(
    (one: UnitRow) =>
      // The holder may still have a source that is no longer in any configuration.
      one.holder !== null && one.sources.some(({ name }) => name === source),
  );
  return unit === undefined || unit.holderHost === null ? null : { host: unit.holderHost, unit: unit.id };
}

function nobody(source: string | null): UsageError {
  const what = source === null ? 'no source is' : `the source "${source}" is not`;
  return new UsageError(`${what} kept by a host just now; see botsync cluster status`, EXIT.incomplete);
}
