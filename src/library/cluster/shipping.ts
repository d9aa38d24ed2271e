import { DatabaseError } from '../../cluster/database.ts';
import type { Grant, Ledger } from '../../cluster/ledger.ts';
import type { Clock } from '../../domain/clock.ts';
import { momentOf, type Lease } from '../../domain/lease.ts';
import type { Log } from '../../service/logger.ts';
import { StateFileError } from '../../store/database.ts';
import type { StateStore } from '../../store/state-store.ts';
import type { Shipment, WorkingCopy } from '../../store/working-copy.ts';

/** What the database did not answer is asked again after so long, milliseconds. */
export const ASK_AGAIN_MS = 200;

/** Classes of codes of PostgreSQL that say that it will not take a shipment whenever it is asked: the data, a constraint, a right that is missing. */
const NEVER_TAKEN = /^(?:22|23|42)/u;

/** What the changes of a unit get to the ledger with. */
export interface ShippingInput {
  /** Of the unit. */
  readonly name: string;
  readonly grant: Grant;
  readonly lease: Lease;
  /** This host, by its name in the cluster. */
  readonly host: string;
  readonly ledger: Pick<Ledger, 'ship'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Told how long each shipment took, seconds. */
  readonly shipped: (seconds: number) => void;
  /** Told when the unit is somebody else's. */
  readonly lost: () => void;
  /** Told when the ledger will never take some of what changed. */
  readonly refused: () => void;
  /** Nothing is waited for any more once it aborts. */
  readonly abort: AbortSignal;
}

/** How the changes of a unit that this host holds get to the ledger: each once, in their order. */
export class Shipping {
  readonly #input: ShippingInput;
  #seq: number;
  /** Why the ledger will never take some of what changed. */
  #refusal: StateFileError | null = null;

  constructor(input: ShippingInput) {
    this.#input = input;
    this.#seq = input.grant.seq;
  }

  /** How many shipments the ledger has taken, those before this grant included. */
  get seq(): number {
    return this.#seq;
  }

  /** What changes in a working copy from now on goes to the ledger. */
  begin(copy: WorkingCopy): StateStore {
    return copy.begin((shipment) => this.#ship(shipment));
  }

  /** Throws `StateFileError` where the ledger will never take some of what changed. */
  throwRefusal(): void {
    if (this.#refusal !== null) throw this.#refusal;
  }

  /** Resolves once the ledger has it. Throws `StateFileError` once it never will have. */
  async #ship(shipment: Shipment): Promise<void> {
    const { ledger, grant, host, lease, clock, log, name, abort } = this.#input;
    // It counts from when it was sent first: an answer that was lost proves nothing of a later moment.
    const sentAt = momentOf(clock);
    let isTold = false;
    while (!lease.isOver) {
      try {
        switch (await ledger.ship(grant, this.#seq, host, shipment)) {
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
        // Another host, with another role, may be allowed to.
        if (error.kind === 'refused' && NEVER_TAKEN.test(error.code ?? ''))
          throw this.#refuse(`the database refuses records of ${name}: ${error.message}`);
        if (!isTold) log.warn(`records of ${name} wait for the database: ${error.message}`);
        isTold = true;
        await clock.sleep(ASK_AGAIN_MS, abort);
      }
    }
    throw new StateFileError('unheld', `another host may hold ${name}`);
  }

  /** Ends the work: the ledger lacks what changed from now on. */
  #refuse(reason: string): StateFileError {
    this.#refusal ??= new StateFileError('unheld', reason);
    this.#input.refused();
    return this.#refusal;
  }
}
