import { join } from 'node:path';
import { DatabaseError, type Grant } from '../../cluster/shared-ledger.ts';
import { Lease, type Moment } from '../../domain/lease.ts';
import { sourceStack } from '../../service/source-stack.ts';
import { StateFileError } from '../../store/database.ts';
import type { StateStore } from '../../store/state-store.ts';
import {
  describeUnreadable,
  UnreadableRowError,
  discardWorkingCopy,
  WorkingCopy,
} from '../../store/working-copy.ts';
import type { ClusterHost } from './open-cluster.ts';
import { ASK_AGAIN_MS, Shipping } from './shipping.ts';

interface HeldUnitInput extends Pick<ClusterHost, 'cluster' | 'clock' | 'log'> {
  readonly name: string;
  readonly grant: Grant;
  /** When the claim was sent. */
  readonly claimedAt: Moment;
  readonly stateFile: string;
  /** Called after each shipment with its duration in seconds. */
  readonly shipped: (seconds: number) => void;
  /** Works on the unit until `stop`, or until `abort` cuts the work off. Throws `StateFileError`. */
  readonly work: (unit: WorkedUnit) => Promise<void>;
}

export interface WorkedUnit {
  readonly name: string;
  readonly state: StateStore;
  readonly lease: Lease;
  /** True if the records must be compared with the platform first: the ledger may have lost some. */
  readonly isInDoubt: boolean;
  /** Records in the ledger that the comparison was made. Throws `DatabaseError`. */
  readonly compared: () => Promise<void>;
  /** No new work starts after it aborts. */
  readonly stop: AbortSignal;
  /** Cuts off running work. */
  readonly abort: AbortSignal;
}

/** The end of the work on a unit: `released` in order, `lost` (another host may have it), or `failed`. */
export type UnitEnd =
  { readonly kind: 'released' | 'lost' } | { readonly kind: 'failed'; readonly reason: string };

/** A unit that this host holds: its lease, its working copy, and the work on it. */
export class HeldUnit {
  readonly lease: Lease;
  readonly #input: HeldUnitInput;
  readonly #stop = new AbortController();
  readonly #abort = new AbortController();
  readonly #ended = new AbortController();
  readonly #shipping: Shipping;
  #copy: WorkingCopy | null = null;
  #state: StateStore | null = null;

  constructor(input: HeldUnitInput) {
    this.#input = input;
    this.lease = new Lease(input.cluster.config.leaseMs, input.clock, input.claimedAt);
    this.#shipping = new Shipping({
      ...{ ...input, lease: this.lease, abort: this.#abort.signal },
      lost: () => {
        this.lose();
      },
      refused: () => {
        this.#stop.abort();
      },
    });
  }

  get name(): string {
    return this.#input.name;
  }

  /** The records; `null` while they are not open. */
  get state(): StateStore | null {
    return this.#state;
  }

  get grant(): Grant {
    return this.#input.grant;
  }

  /** True once the unit is being released or was lost. */
  get isEnding(): boolean {
    return this.#stop.signal.aborted;
  }

  /** The number of shipments that the ledger has taken, including those before this grant. */
  get seq(): number {
    return this.#shipping.seq;
  }

  /** Ends the work in order, then releases the unit. */
  release(): void {
    this.#stop.abort();
  }

  /** Cuts off the work, because another host has the unit or may have it. */
  lose(): void {
    this.lease.end();
    this.#abort.abort();
    this.#stop.abort();
  }

  /** Works on the unit until it is released or lost. */
  async run(): Promise<UnitEnd> {
    const { cluster, grant } = this.#input;
    const watching = this.#watchLease();
    try {
      const end = await this.#work();
      if (this.lease.isOver) return { kind: 'lost' };
      // Release even after an error: no work is under way any more, and another host may continue at once.
      await cluster.ledger.release(grant).catch(() => undefined);
      return end;
    } finally {
      this.lease.end();
      this.#ended.abort();
      await watching;
    }
  }

  async #work(): Promise<UnitEnd> {
    const { name, cluster, clock } = this.#input;
    let state: StateStore | null = null;
    try {
      state = await this.#open();
      this.#state = state;
      state.suspects.addUnfinished(clock.now() + cluster.config.suspectAfterMs);
      await this.#input.work({
        name,
        state,
        lease: this.lease,
        isInDoubt: this.grant.isInDoubt,
        compared: () => this.#answer(() => cluster.ledger.noteCompared(this.grant)),
        stop: this.#stop.signal,
        abort: this.#abort.signal,
      });
      await state.settled();
      // A refused shipment may have had no waiter.
      this.#shipping.throwRefusal();
      return { kind: 'released' };
    } catch (error) {
      // The unit was released before its records were loaded: nothing began, so nothing failed.
      if (state === null && this.isEnding && isUnanswered(error)) return { kind: 'released' };
      return { kind: 'failed', reason: this.#reasonOf(error) };
    } finally {
      this.#state = null;
      closeQuietly(state ?? this.#copy);
      this.#copy = null;
      discardQuietly(this.#file);
    }
  }

  /**
   * Returns why the work failed. A defect counts too: if it ended the process, it would go on to end every host that
   * takes the unit.
   */
  #reasonOf(error: unknown): string {
    const { name, log } = this.#input;
    if (error instanceof UnreadableRowError) return describeUnreadable(name, error);
    if (error instanceof StateFileError && error.kind !== 'unheld')
      return `this host's copy of the records (${this.#file}) cannot be used: ${error.message}; check that the disk has room`;
    if (error instanceof StateFileError || error instanceof DatabaseError) return error.message;
    log.error(`the work on ${name} ended by an error that botsync did not expect: ${sourceStack(error)}`);
    return `an unexpected error: ${error instanceof Error ? error.message : String(error)}`;
  }

  get #file(): string {
    return workingCopyOf(this.#input.stateFile, this.#input.grant.unit);
  }

  /** Throws `StateFileError`, `DatabaseError`, `UnreadableRowError`. */
  async #open(): Promise<StateStore> {
    const { cluster, grant } = this.#input;
    const { ledger, config } = cluster;
    let copy: WorkingCopy;
    try {
      copy = new WorkingCopy(this.#file);
    } catch (error) {
      throw new StateFileError('unwritable', (error as Error).message, { cause: error });
    }
    this.#copy = copy;
    copy.loadTargets(await this.#answer(() => ledger.targets()));
    const pages = ledger.rows(grant.unit, config.host, (question) => this.#answer(question));
    for await (const page of pages) copy.load(page);
    return this.#shipping.begin(copy);
  }

  /** Repeats a question until the database answers or the unit is being released. Throws `DatabaseError`. */
  async #answer<T>(question: () => Promise<T>): Promise<T> {
    const { clock, log, name } = this.#input;
    let isTold = false;
    for (;;) {
      try {
        return await question();
      } catch (error) {
        if (this.isEnding || !isUnanswered(error)) throw error;
        if (!isTold) log.warn(`${name} waits for the database: ${error.message}`);
        isTold = true;
        await clock.sleep(ASK_AGAIN_MS, this.#stop.signal);
      }
    }
  }

  /** Loses the unit when its lease runs out unproven. */
  async #watchLease(): Promise<void> {
    const { clock, log, name } = this.#input;
    const { signal } = this.#ended;
    const isOver = (): boolean => signal.aborted || this.lease.isOver;
    while (!isOver()) {
      await clock.sleep(this.lease.remainingMs, signal);
      if (isOver() || this.lease.mayFinish()) continue;
      log.warn(`the lease of ${name} could not be proven in time: what is under way is broken off`);
      this.lose();
    }
  }
}

/** Returns whether the database did not answer; a retry may succeed. */
function isUnanswered(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.kind === 'unreachable';
}

function workingCopyOf(stateFile: string, unit: number): string {
  return join(`${stateFile}.units`, `unit-${unit}.db`);
}

/** Deletes a working copy if the file system permits. */
function discardQuietly(file: string): void {
  try {
    discardWorkingCopy(file);
  } catch {
    // The reason was reported where the copy was made, or will be with the next copy.
  }
}

function closeQuietly(open: { readonly close: () => void } | null): void {
  try {
    open?.close();
  } catch {
    // The copy is discarded anyway.
  }
}
