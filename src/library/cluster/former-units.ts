import type { ClusterView, HostRow, UnitRow } from '../../cluster/membership.ts';
import { mayGiveKeysOf, type OwnUnit } from './own-units.ts';

/**
 * Units of the ledger that no live host has in its configuration, but whose keys are those of some units of this host's: their
 * sources were renamed, or put together otherwise.
 */
export function formerUnits(
  own: readonly OwnUnit[],
  { units }: Pick<ClusterView, 'units'>,
  alive: readonly HostRow[],
): readonly UnitRow[] {
  return units.filter(
    (row) =>
      row.pinned === null &&
      !own.some(({ id }) => id === row.id) &&
      !alive.some((host) => host.units.includes(row.id)) &&
      own.some((one) => !one.isPinned && mayGiveKeysOf(one, row)),
  );
}
