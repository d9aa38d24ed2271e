import { setTimeout as delay } from 'node:timers/promises';
import type { HostRow } from '../../cluster/membership.ts';
import { beatMs } from '../../domain/lease.ts';
import { SyncError } from '../sync-error.ts';
import { asked, demandLedger, type Cluster } from './open-cluster.ts';
import { wakeHosts } from './wake-hosts.ts';

/** How often a host is looked for in the time between two of its beats. */
const LOOKS_A_BEAT = 4;

/**
 * Removes a host that will not come back from the list, once it has been silent for a lease. One that comes back all the same joins anew.
 * Throws `SyncError` where it is not on the list, or is alive.
 *
 * @param waiting - told of the time for which it is to be silent, milliseconds.
 */
export async function forgetHost(
  cluster: Cluster,
  name: string,
  waiting: (ms: number) => void,
): Promise<void> {
  await demandLedger(cluster);
  const { membership, config } = cluster;
  const first = await find(cluster, name);
  const untilMs = performance.now() + config.leaseMs;
  waiting(config.leaseMs);
  while (performance.now() < untilMs) {
    await delay(Math.min(beatMs(config.leaseMs) / LOOKS_A_BEAT, untilMs - performance.now()));
    const { instance, beat } = await find(cluster, name);
    if (instance !== first.instance || beat !== first.beat)
      throw new SyncError('not-served', {
        place: `the host "${name}"`,
        reason: 'is alive',
        fix: 'stop botsync there: it leaves the list by itself',
      });
  }
  await asked(async () => {
    // By now another process may have the name.
    await membership.leave(first);
    await wakeHosts(cluster);
  }, config);
}

async function find({ membership, config }: Cluster, name: string): Promise<HostRow> {
  const { hosts } = await asked(() => membership.look(), config);
  const host = hosts.find((one) => one.name === name);
  if (host !== undefined) return host;
  throw new SyncError('usage', {
    reason: `host not found: "${name}"`,
    fix: `the ledger has: ${hosts.map((one) => one.name).join(', ') || 'none'}`,
  });
}
