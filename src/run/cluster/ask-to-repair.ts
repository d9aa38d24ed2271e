import type { LoadedConfig } from '../../config/load-config.ts';
import { asked } from './open-cluster.ts';
import { withCluster } from './with-cluster.ts';

/** `host`: `null` if no host holds the source, so that nobody was asked. */
export interface AskedToRepair {
  readonly source: string;
  readonly host: string | null;
}

/** Asks the hosts that hold the sources of a configuration to compare and repair them. Throws `SyncError`. */
export async function askHoldersToRepair(
  loaded: LoadedConfig,
  env: NodeJS.ProcessEnv,
): Promise<AskedToRepair[]> {
  return await withCluster(loaded, env, (cluster) =>
    asked(async () => {
      const { membership } = cluster;
      const { units } = await membership.look();
      const all: AskedToRepair[] = [];
      for (const { name: source } of loaded.config.sources) {
        const unit = units.find(
          ({ holder, sources }) => holder !== null && sources.some(({ name }) => name === source),
        );
        if (unit !== undefined) await membership.addCommand(unit.id, 'repair', { source });
        all.push({ source, host: unit?.holderHost ?? null });
      }
      await cluster.messages.wake(cluster.config.host);
      return all;
    }, cluster.config),
  );
}
