import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { UnitRow } from '../../cluster/membership.ts';
import { asked, type Cluster } from './open-cluster.ts';

/**
 * Frees units of hosts that are gone without a word: those that nobody proved for as long as a lease lasts, by the clock of this host.
 * They are claimed, which keeps a host that was only stopped from going on, and released. Gives all units as they are then. Throws
 * `SyncError`.
 */
export async function freeAbandoned(
  { membership, ledger, config }: Cluster,
  wanted: (unit: UnitRow) => boolean,
): Promise<readonly UnitRow[]> {
  const look = async (): Promise<readonly UnitRow[]> => (await asked(() => membership.look(), config)).units;
  const isHeld = (unit: UnitRow): boolean => unit.holder !== null && unit.pinned === null && wanted(unit);
  const before = await look();
  if (!before.some(isHeld)) return before;
  await delay(config.leaseMs);
  const instance = `freeing ${randomUUID()}`;
  for (const unit of await look()) {
    const seen = before.find(({ id }) => id === unit.id);
    if (!isHeld(unit) || seen?.epoch !== unit.epoch || seen.beat !== unit.beat) continue;
    const by = { name: unit.holderHost ?? config.host, instance };
    await asked(async () => {
      const grant = await membership.claim(unit, unit.epoch, by);
      if (grant !== null) await ledger.release(grant);
    }, config);
  }
  return await look();
}
