import type { ClusterHost } from './open-cluster.ts';
import { DatabaseError, type Grant } from '../../cluster/shared-ledger.ts';
import { momentOf, type Lease } from '../../domain/lease.ts';
import { StateFileError } from '../../store/database.ts';
import type { StateStore } from '../../store/state-store.ts';
import type { Shipment, WorkingCopy } from '../../store/working-copy.ts';

/** Wait before an unanswered database request is repeated, milliseconds. */
export const ASK_AGAIN_MS = 200;

interface ShippingInput extends Pick<ClusterHost, 'cluster' | 'clock' | 'log'> {
  readonly name: string;
  readonly grant: Grant;
  readonly lease: Lease;
  /** Called after each shipment with its duration in seconds. */
  readonly shipped: (seconds: number) => void;
  /** Called when another host has the unit. */
  readonly lost: () => void;
  /** Called when the ledger will never take a change. */
  readonly refused: () => void;
  /** Ends all waits. */
  readonly abort: AbortSignal;
}

/** Ships the changes of a held unit to the ledger: each once, in order. */
export class Shipping {
  readonly #input: ShippingInput;
  #seq: number;
  /** Why the ledger will never take a change. */
  #refusal: StateFileError | null = null;

  constructor(input: ShippingInput) {
    this.#input = input;
    this.#seq = input.grant.seq;
  }

  /** The number of shipments that the ledger has taken, including those before this grant. */
  get seq(): number {
    return this.#seq;
  }

  /** Ships all further changes of a working copy. */
  begin(copy: WorkingCopy): StateStore {
    return copy.begin((shipment) => this.#ship(shipment));
  }

  /** Throws `StateFileError` if the ledger will never take a change. */
  throwRefusal(): void {
    if (this.#refusal !== null) throw this.#refusal;
  }

  /** Resolves once the ledger has the shipment. Throws `StateFileError` if it never will. */
  async #ship(shipment: Shipment): Promise<void> {
    const { cluster, grant, lease, clock, log, name, abort } = this.#input;
    const { ledger, config } = cluster;
    // The lease counts from the first sending: a lost answer proves no later moment.
    const sentAt = momentOf(clock);
    let isTold = false;
    while (!lease.isOver) {
      try {
        switch (await ledger.ship(grant, this.#seq, config.host, shipment)) {
          case 'taken':
            this.#seq += 1;
            lease.prove(sentAt);
            this.#input.shipped((clock.monotonic() - sentAt.monotonicMs) / 1000);
            return;
          case 'lost':
            this.#input.lost();
            break;
          case 'foreign':
            this.#seq += 1;
            throw this.#refuse(`records of ${name} belong to another unit; do two hosts give the same keys?`);
        }
      } catch (error) {
        if (!(error instanceof DatabaseError)) throw error;
        // Another host, with another role, may have the right.
        if (error.isFinal) throw this.#refuse(`the database refuses records of ${name}: ${error.message}`);
        if (!isTold) log.warn(`records of ${name} wait for the database: ${error.message}`);
        isTold = true;
        await clock.sleep(ASK_AGAIN_MS, abort);
      }
    }
    throw new StateFileError('unheld', `another host may hold ${name}`);
  }

  /** Ends the work: from now on the ledger lacks changes. */
  #refuse(reason: string): StateFileError {
    this.#refusal ??= new StateFileError('unheld', reason);
    this.#input.refused();
    return this.#refusal;
  }
}
