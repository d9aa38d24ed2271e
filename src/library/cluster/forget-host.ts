import { standingOfCluster } from './cluster-status.ts';
import { asked, demandLedger, type Cluster } from './open-cluster.ts';
import { SyncError } from '../sync-error.ts';
import { wakeHosts } from './wake-hosts.ts';

/**
 * Removes a host that will not come back from the list. One that does so all the same joins anew. Throws `SyncError` where it is not on
 * the list, or is alive.
 */
export async function forgetHost(cluster: Cluster, name: string): Promise<void> {
  await demandLedger(cluster);
  const { membership, config } = cluster;
  const before = (await asked(() => membership.look(), config)).hosts;
  const host = before.find((one) => one.name === name);
  if (host === undefined)
    throw new SyncError('usage', {
      reason: `host not found: "${name}"`,
      fix: `the ledger has: ${before.map((one) => one.name).join(', ') || 'none'}`,
    });
  const { hosts } = await standingOfCluster(cluster, new Set());
  if (hosts.find((one) => one.name === name)?.liveness === 'alive')
    throw new SyncError('not-served', {
      place: `the host "${name}"`,
      reason: 'is alive',
      fix: 'stop botsync there: it leaves the list by itself',
    });
  await asked(async () => {
    // By now another process may have the name.
    await membership.leave(host);
    await wakeHosts(cluster);
  }, config);
}
