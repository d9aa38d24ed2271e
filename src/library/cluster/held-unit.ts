import { join } from 'node:path';
import { DatabaseError } from '../../cluster/database.ts';
import type { Grant, Ledger } from '../../cluster/ledger.ts';
import type { UnitRow } from '../../cluster/membership.ts';
import type { Clock } from '../../domain/clock.ts';
import { Lease, type Moment } from '../../domain/lease.ts';
import type { Log } from '../../service/logger.ts';
import { sourceStack } from '../../service/source-stack.ts';
import { StateFileError } from '../../state/database.ts';
import type { StateStore } from '../../state/state-store.ts';
import { describeUnreadable, UnreadableRowError } from '../../state/unreadable-row.ts';
import { discardWorkingCopy, WorkingCopy } from '../../state/working-copy.ts';
import { ASK_AGAIN_MS, Shipping } from './shipping.ts';

/** What is left of the work on a unit whose lease ran out: its working copy, and how much of it the ledger has taken. */
export interface KeptCopy {
  readonly epoch: number;
  readonly seq: number;
  /** Whether the ledger was to be told all of it again, and has not taken all of that. */
  readonly isOwed: boolean;
}

/** What a unit is worked on with. */
export interface HeldUnitInput {
  readonly name: string;
  readonly grant: Grant;
  /** When the claim was sent. */
  readonly claimedAt: Moment;
  readonly leaseMs: number;
  readonly suspectAfterMs: number;
  /** This host, by its name in the cluster. */
  readonly host: string;
  readonly ledger: Ledger;
  /** Units that no configuration has any more, as they were seen: what they have on record of these keys becomes this unit's. */
  readonly former: { readonly units: readonly UnitRow[]; readonly prefixes: readonly string[] };
  readonly stateFile: string;
  /** Whether the ledger has lost what it took from the working copy that was kept: all of that goes there again. */
  readonly isRewound: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Told how long each shipment took, seconds. */
  readonly shipped: (seconds: number) => void;
  /** Works on it until `stop`, or until `abort` breaks it off. Throws `StateFileError`. */
  readonly work: (unit: WorkedUnit) => Promise<void>;
}

/** A unit that is worked on. */
export interface WorkedUnit {
  readonly name: string;
  readonly state: StateStore;
  readonly lease: Lease;
  /** Whether nothing was ever written of it. */
  readonly isNew: boolean;
  /** Takes over targets that the ledger has got since. Gives the numbers of all. Throws `StateFileError`, `DatabaseError`. */
  readonly loadTargets: () => Promise<ReadonlySet<number>>;
  /** No new work once it aborts. */
  readonly stop: AbortSignal;
  /** Breaks off what is running. */
  readonly abort: AbortSignal;
}

/** How the work on a unit ended: it was let go of, somebody else may have it, or something kept it from being worked on. */
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
  /** Whether the working copy has all that the ledger had. */
  #isWhole = false;

  constructor(input: HeldUnitInput) {
    this.#input = input;
    this.lease = new Lease(input.leaseMs, input.clock, input.claimedAt);
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

  get grant(): Grant {
    return this.#input.grant;
  }

  /** Whether it is about to be let go of. */
  get isEnding(): boolean {
    return this.#stop.signal.aborted;
  }

  /** What is left of a unit that was lost; `null`: nothing that is of use. */
  get kept(): KeptCopy | null {
    const { seq, isOwed } = this.#shipping;
    return this.#isWhole ? { epoch: this.grant.epoch, seq, isOwed } : null;
  }

  /** How many shipments the ledger has taken, those before this grant included. */
  get seq(): number {
    return this.#shipping.seq;
  }

  /** The database went back in time: all that is on record goes to the ledger again. */
  rewind(): void {
    this.#shipping.rewind();
  }

  /** Ends the work in order, and lets go of the unit then. */
  release(): void {
    this.#stop.abort();
  }

  /** Somebody else has it, or may: what is under way is broken off. */
  lose(): void {
    this.lease.end();
    this.#abort.abort();
    this.#stop.abort();
  }

  /** Works on it until it is released or lost. */
  async run(): Promise<UnitEnd> {
    const { ledger, grant } = this.#input;
    const watching = this.#watchLease();
    try {
      const end = await this.#work();
      if (this.lease.isOver) return { kind: 'lost' };
      // Whatever it ended by: nothing is under way any more, and others may go on at once.
      await ledger.release(grant).catch(() => undefined);
      return end;
    } finally {
      this.lease.end();
      this.#ended.abort();
      await watching;
    }
  }

  async #work(): Promise<UnitEnd> {
    const { name, suspectAfterMs, clock } = this.#input;
    let state: StateStore | null = null;
    try {
      state = await this.#open();
      state.suspects.addUnfinished(clock.now() + suspectAfterMs);
      await this.#input.work({
        name,
        state,
        lease: this.lease,
        isNew: this.grant.seq === 0,
        loadTargets: async () => {
          const targets = await this.#input.ledger.targets();
          this.#copy?.loadTargets(targets);
          return new Set(targets.map(({ id }) => id));
        },
        stop: this.#stop.signal,
        abort: this.#abort.signal,
      });
      await state.settled();
      // Nobody may have waited for it.
      this.#shipping.throwRefusal();
      return { kind: 'released' };
    } catch (error) {
      // Nothing was begun: there was a reason to end before there was an answer.
      if (state === null && this.isEnding && isUnanswered(error)) return { kind: 'released' };
      return { kind: 'failed', reason: this.#reasonOf(error) };
    } finally {
      closeQuietly(state ?? this.#copy);
      this.#shipping.end();
      this.#copy = null;
      // The database may come back as it was before: then only the copy knows what was sent.
      if (!this.lease.isOver) discardQuietly(this.#file);
    }
  }

  /** Why the work failed. A defect concerns this unit too: if it ended the process, it would go on to end each host that takes the unit. */
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
    const { ledger, grant, host, isRewound } = this.#input;
    let copy: WorkingCopy;
    try {
      copy = new WorkingCopy(this.#file, isRewound ? 'keep' : 'discard');
    } catch (error) {
      throw new StateFileError('unwritable', (error as Error).message, { cause: error });
    }
    this.#copy = copy;
    if (!isRewound) {
      await this.#inherit();
      copy.loadTargets(await this.#answer(() => ledger.targets()));
      const pages = ledger.rows(grant.unit, host, (question) => this.#answer(question));
      for await (const page of pages) copy.load(page);
    }
    this.#isWhole = true;
    return this.#shipping.begin(copy, isRewound);
  }

  /** Throws `DatabaseError`. */
  async #inherit(): Promise<void> {
    const { ledger, grant, former, log, name } = this.#input;
    if (former.units.length === 0) return;
    const what = { from: former.units.map(({ id }) => id), prefixes: former.prefixes };
    const count = await ledger.inherit(grant, what, (question) => this.#answer(question));
    if (count === 0) return;
    const from = former.units.map((unit) => unit.name).join(', ');
    log.info(`${name} takes over what is on record of sources that were renamed or put together otherwise`, {
      from,
      files: count,
    });
  }

  /** Asks the database something until it answers, for as long as the unit is held and is to be worked on. Throws `DatabaseError`. */
  async #answer<T>(question: () => Promise<T>): Promise<T> {
    const { clock, log, name } = this.#input;
    let isTold = false;
    for (;;) {
      try {
        return await question();
      } catch (error) {
        if (this.isEnding || !isUnanswered(error)) throw error;
        if (!isTold) log.warn(`${name} is loaded once the database answers: ${error.message}`);
        isTold = true;
        await clock.sleep(ASK_AGAIN_MS, this.#stop.signal);
      }
    }
  }

  /** Breaks everything off when the lease runs out: nobody proved it in time. */
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

/** Whether the database did not answer, which it may do when it is asked again. */
function isUnanswered(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.kind === 'unreachable';
}

/** Where the working copy of a unit is. */
export function workingCopyOf(stateFile: string, unit: number): string {
  return join(`${stateFile}.units`, `unit-${unit}.db`);
}

/** Deletes a working copy that is of no use any more, if the file system lets us. */
export function discardQuietly(file: string): void {
  try {
    discardWorkingCopy(file);
  } catch {
    // Why the file system does not let us was said where the copy was made, or will be with the next.
  }
}

function closeQuietly(open: { readonly close: () => void } | null): void {
  try {
    open?.close();
  } catch {
    // It is discarded.
  }
}
