import { DatabaseError } from '../../cluster/database.ts';
import type { Grant, Ledger } from '../../cluster/ledger.ts';
import type { Clock } from '../../domain/clock.ts';
import { momentOf, type Lease } from '../../domain/lease.ts';
import type { Log } from '../../service/logger.ts';
import { StateFileError } from '../../state/database.ts';
import type { StateStore } from '../../state/state-store.ts';
import type { Shipment, WorkingCopy } from '../../state/working-copy.ts';

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
  readonly ledger: Pick<Ledger, 'ship' | 'clear'>;
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

/** How the changes of a unit that this host holds get to the ledger: each once, in their order, and all of them anew where it lost some. */
export class Shipping {
  readonly #input: ShippingInput;
  #copy: WorkingCopy | null = null;
  #state: StateStore | null = null;
  #seq: number;
  /** The ledger has lost some of what it took before. */
  #isRewound = false;
  /** It has not taken all of that again. */
  #isOwed = false;
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

  /** Whether the ledger was to be told all of it again, and has not taken all of that. */
  get isOwed(): boolean {
    return this.#isOwed;
  }

  /**
   * What changes in a working copy from now on goes to the ledger.
   *
   * @param isRewound - so does all that is in it: the ledger has lost some of that.
   */
  begin(copy: WorkingCopy, isRewound: boolean): StateStore {
    this.#copy = copy;
    this.#state = copy.begin((shipment) => this.#ship(shipment));
    // Also if the lease is over meanwhile.
    this.#isOwed ||= isRewound;
    if (isRewound) this.rewind();
    return this.#state;
  }

  /** Nothing changes any more. */
  end(): void {
    this.#copy = null;
    this.#state = null;
  }

  /** The database went back in time: all that is on record goes to the ledger again. */
  rewind(): void {
    const { log, name, lease } = this.#input;
    if (this.#isRewound || lease.isOver) return;
    log.error(`the database went back in time: all records of ${name} are written again`);
    this.#isRewound = true;
    this.#isOwed = true;
    // While it is being loaded there is nothing to be lost: the first shipment comes upon it.
    if (this.#state === null) return;
    // Else nothing would be shipped before something changes.
    this.#copy?.shipAll();
    this.#state.settled().catch(() => undefined);
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
        if (this.#isRewound && !(await this.#startOver())) break;
        switch (await ledger.ship(grant, this.#seq, host, shipment)) {
          case 'taken':
            this.#seq += 1;
            this.#isOwed &&= this.#copy?.isShipped !== true;
            lease.prove(sentAt);
            this.#input.shipped((clock.monotonic() - sentAt.monotonicMs) / 1000);
            return;
          case 'lost':
            this.#input.lost();
            break;
          case 'rewound':
            this.rewind();
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

  /** Empties the ledger, so that all goes there again. `false`: the unit is lost. Throws `DatabaseError`. */
  async #startOver(): Promise<boolean> {
    const { ledger, grant, host, lease, lost } = this.#input;
    // Only a lease that still holds proves that nobody has the unit meanwhile.
    const seq = await ledger.clear(grant, host, lease.mayFinish);
    if (seq === null) {
      lost();
      return false;
    }
    this.#seq = seq;
    this.#isRewound = false;
    this.#copy?.shipAll();
    return true;
  }
}
