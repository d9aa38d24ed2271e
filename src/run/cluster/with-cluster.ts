import type { LoadedConfig } from '../../config/load-config.ts';
import { SyncError } from '../sync-error.ts';
import { openCluster, type Cluster, type OtherAddress } from './open-cluster.ts';

/** Runs a task with the cluster of a configuration. Throws `SyncError`, also if there is no cluster. */
export async function withCluster<T>(
  loaded: LoadedConfig,
  env: NodeJS.ProcessEnv,
  task: (cluster: Cluster) => Promise<T>,
  other: OtherAddress | null = null,
): Promise<T> {
  const { cluster: config } = loaded.config;
  if (config === null)
    throw new SyncError('configuration', {
      place: loaded.file,
      reason: 'has no "cluster" block: this host works alone',
      fix: 'to have several hosts share the work, add "cluster": { "database": "env:BOTSYNC_DATABASE" }',
    });
  const cluster = openCluster(loaded, config, env, other);
  try {
    return await task(cluster);
  } finally {
    await cluster.close();
  }
}
