import type { Config } from '../../config/config.ts';
import type { Fence } from '../../domain/lease.ts';
import type { Log } from '../../service/logger.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { Holding } from '../holding.ts';
import type { Clients } from '../platform/clients.ts';
import { compareRecords } from './compare-records.ts';
import type { WorkedUnit } from './held-unit.ts';
import type { Cluster } from './open-cluster.ts';
import { onlySourcesOf, type OwnUnit } from './own-units.ts';

export interface UnitHoldingInput {
  readonly cluster: Pick<Cluster, 'conversations'>;
  /** The current configuration. */
  readonly config: () => Config;
  readonly platformName: (config: Config) => string;
  /** Clients whose requests wait for a fence. */
  readonly clientsUnder: (fence: Fence) => Clients;
  /** See `Holding.othersSettledUntilMs`. */
  readonly othersSettledUntilMs: (own: OwnUnit) => number;
  readonly log: Log;
}

/**
 * Returns the holding of a unit that this host has taken. Compares its records with the platform first, if the ledger may have
 * lost some of them. Throws `StateFileError`, `DatabaseError`.
 */
export async function openUnitHolding(
  own: OwnUnit,
  worked: WorkedUnit,
  input: UnitHoldingInput,
): Promise<Holding> {
  const { cluster, platformName, clientsUnder, othersSettledUntilMs, log } = input;
  const { state, lease, stop, abort } = worked;
  const config = (): Config => {
    const now = input.config();
    return onlySourcesOf([own], now, platformName(now));
  };
  const clients = clientsUnder(lease);
  await compareRecords(worked, {
    config: config(),
    platformName: platformName(input.config()),
    catalog: clients.catalog(),
    platformNow: () => clients.files().now(),
    clock: systemClock,
    log,
  });
  return {
    state,
    config,
    clients: () => clientsUnder(lease),
    unit: { name: own.name, lease, conversations: cluster.conversations },
    checkInPlace: () => {
      state.checkInPlace();
    },
    othersSettledUntilMs: () => othersSettledUntilMs(own),
    ...{ stop, abort },
  };
}
