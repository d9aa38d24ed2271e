import type { Config } from '../config/config.ts';
import type { ConversationMemory } from '../notify/messenger.ts';
import type { Fence } from '../domain/lease.ts';
import type { StateStore } from '../store/state-store.ts';
import type { Clients } from './platform/clients.ts';
import type { Stop } from './stop.ts';

/**
 * Records that this process works on: those of the local state file, or those of a unit of the ledger for as long as its
 * lease holds. A single pass runs each holding to its end, a daemon keeps them running.
 */
export interface Holding {
  readonly state: StateStore;
  /** The current configuration, with the sources of these records. */
  readonly config: () => Config;
  /** The current connection to the platform; requests for a unit wait for its lease. */
  readonly clients: () => Clients;
  /** `null`: the records are those of the local state file. */
  readonly unit: NotifyingUnit | null;
  /** Throws `StateFileError` if other records were put in their place. */
  readonly checkInPlace: () => void;
  /** Up to when the other units of the same target have rescanned everything, epoch milliseconds; `Infinity`: there are none. */
  readonly othersSettledUntilMs: () => number;
  /** No new work once it aborts. */
  readonly stop: AbortSignal;
  /** Aborts running work. */
  readonly abort: AbortSignal;
}

/** Returns the holding of the local state file. */
export function localHolding(
  state: StateStore,
  { config, clients }: Pick<Holding, 'config' | 'clients'>,
  { stop, abort }: Stop,
): Holding {
  return {
    ...{ state, config, clients, stop, abort },
    unit: null,
    checkInPlace: () => {
      state.checkInPlace();
    },
    othersSettledUntilMs: () => Infinity,
  };
}

/** A unit of the ledger, for its notifications. */
export interface NotifyingUnit {
  readonly name: string;
  /** Messages are sent under it, as files are. */
  readonly lease: Fence;
  /** Those of the cluster. */
  readonly conversations: ConversationMemory;
}
