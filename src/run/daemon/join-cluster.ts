import type { ClusterMetrics } from '../../service/cluster-metrics.ts';
import type { Metrics } from '../../service/metrics.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import type { ClusterObserver } from '../cluster/cluster-situation.ts';
import type { ClusterPart, ClusterPartInput } from './cluster-part.ts';

export interface JoinInput extends Omit<ClusterPartInput, 'cluster' | 'observer' | 'onHints'> {
  readonly loaded: LoadedConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly metrics: Metrics;
  /** See `ClusterObserver.stands`. */
  readonly stands: (trouble: string | null) => void;
}

/**
 * Opens a daemon's part in the cluster of its configuration. Returns `null` without a cluster, and then loads no module
 * for it. An unreachable database is waited for later. Throws `SyncError` if the ledger is unusable.
 */
export async function joinCluster(input: JoinInput): Promise<ClusterPart | null> {
  const { loaded, env, metrics, stands, ...rest } = input;
  const { cluster } = loaded.config;
  if (cluster === null) return null;
  const { openDaemonCluster } = await import('./cluster-part.ts');
  let part: ClusterPart | null = null;
  const counted = metrics.joinCluster(() => {
    const { held = [], isDatabaseUp = false } = part?.situation ?? {};
    return { unitsHeld: held.length, isDatabaseUp };
  });
  const observer = observerOf(cluster.host, counted, stands);
  part = await openDaemonCluster(loaded, cluster, env, {
    ...{ ...rest, observer },
    onHints: (direction, count) => {
      counted.hinted(direction, count);
    },
  });
  return part;
}

function observerOf(
  host: string,
  metrics: ClusterMetrics,
  stands: ClusterObserver['stands'],
): ClusterObserver {
  return {
    stands,
    shipped: (seconds) => {
      metrics.shipped(seconds);
    },
    taken: (_unit, from) => {
      // A unit that another process of this host held is not a takeover.
      if (from !== null && from !== host) metrics.tookOver();
    },
    ended: (_unit, { kind }) => {
      if (kind === 'lost') metrics.lost();
    },
  };
}
