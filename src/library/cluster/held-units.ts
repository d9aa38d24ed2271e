import type { ClusterView, UnitRow } from '../../cluster/membership.ts';
import { momentOf, type Moment } from '../../domain/lease.ts';
import { HeldUnit, type HeldUnitInput, type UnitEnd } from './held-unit.ts';
import type { HostName } from './host-name.ts';
import type { Neighbours } from './neighbours.ts';
import type { Cluster } from './open-cluster.ts';
import type { OwnUnit } from './own-units.ts';
import type { Visit } from './visit.ts';

/** A unit that could not be worked on is left to others for so long, milliseconds. */
const AVOID_MS = 15_000;

/** Follows the units that a host holds. */
export interface UnitObserver {
  readonly shipped: (seconds: number) => void;
  /** `from`: the host that held it and did not let go of it; `null`: it was free. */
  readonly taken: (unit: string, from: string | null) => void;
  readonly ended: (unit: string, end: UnitEnd) => void;
}

/** What units are held with. */
export interface UnitWork extends Pick<HeldUnitInput, 'stateFile' | 'clock' | 'log'> {
  readonly cluster: Cluster;
  /** Works on a unit. */
  readonly work: (unit: OwnUnit, worked: Parameters<HeldUnitInput['work']>[0]) => Promise<void>;
  readonly observer: UnitObserver;
  /** Given where the host only comes to take each unit once. */
  readonly visit?: Visit;
  /** No unit is taken any more, and those that are held are let go of, once it aborts. */
  readonly stop: AbortSignal;
  /** The work on all units is broken off once it aborts. */
  readonly abort: AbortSignal;
}

/** What units are held with, and on behalf of whom. */
export interface HeldUnitsInput extends UnitWork {
  readonly name: HostName;
  readonly neighbours: Neighbours;
  /** Told when a unit is not held any more. */
  readonly left: () => void;
}

/** A held unit whose lease a beat is to prove, and how many shipments of it the ledger had taken when the beat was sent. */
export interface UnitToProve {
  readonly unit: HeldUnit;
  readonly seq: number;
}

/** The units that this host holds: takes them, has them worked on, and lets go of them. */
export class HeldUnits {
  readonly #input: HeldUnitsInput;
  readonly #held = new Map<number, HeldUnit>();
  readonly #running = new Set<Promise<void>>();
  /** Units that are left to others until then, by the monotonic clock. */
  readonly #avoided = new Map<number, number>();
  /** Units that are let go of only to be taken anew. */
  readonly #renewed = new Set<number>();
  /** Why units could not be worked on when this host tried last, by their numbers. */
  readonly #failures = new Map<number, { readonly name: string; readonly reason: string }>();
  /** A defect of what is around the work, which concerns this host and no unit. */
  #defect: { readonly error: unknown } | null = null;
  /** The epochs in which this host took units last, by their numbers. */
  readonly #lastEpochs = new Map<number, number>();

  constructor(input: HeldUnitsInput) {
    this.#input = input;
  }

  /** Names of the units. */
  get names(): readonly string[] {
    return [...this.#held.values()].map(({ name }) => name);
  }

  /** Why units could not be worked on when this host tried last, by their names. */
  get failures(): ReadonlyMap<string, string> {
    return new Map([...this.#failures.values()].map(({ name, reason }) => [name, reason]));
  }

  /** Throws what ended the work on a unit otherwise than by the work. */
  demandSound(): void {
    if (this.#defect !== null) throw this.#defect.error;
  }

  /** Whether there is none. */
  get isEmpty(): boolean {
    return this.#held.size === 0;
  }

  /** A unit by its number. */
  get(id: number): HeldUnit | undefined {
    return this.#held.get(id);
  }

  /** Whether a unit is left to others for a while. */
  avoids(id: number): boolean {
    return (this.#avoided.get(id) ?? 0) > this.#input.clock.monotonic();
  }

  /** What the next beat is to prove. */
  get toProve(): readonly UnitToProve[] {
    return [...this.#held.values()].map((unit) => ({ unit, seq: unit.seq }));
  }

  /** Whether nobody is known to have taken a unit since this host did. */
  hadLast({ id }: Pick<UnitRow, 'id'>): boolean {
    return this.#lastEpochs.get(id) === this.#input.neighbours.seenOf({ id }).epoch;
  }

  /** Takes note of what a beat that was sent at a moment says of the units that it was to prove. */
  note(asked: readonly UnitToProve[], view: ClusterView, sentAt: Moment): void {
    for (const { unit, seq } of asked) {
      const { grant } = unit;
      const row = view.units.find(({ id }) => id === grant.unit);
      const isProven = view.proven.includes(grant.unit);
      // Numbers of shipments only grow: the ledger has lost what it took.
      const isOlder = row !== undefined && row.seq < seq;
      if (isOlder) this.#input.log.error(`the database went back in time: ${unit.name} is let go of`);
      if (isProven && !isOlder) unit.lease.prove(sentAt);
      else if (this.#held.has(grant.unit)) unit.lose();
    }
  }

  /** Lets go of all units in order. */
  release(): void {
    for (const unit of this.#held.values()) unit.release();
  }

  /** Lets go of units that were declared otherwise: what is left of them is taken anew at once. */
  renew(unchanged: readonly OwnUnit[]): void {
    for (const [id, unit] of this.#held) {
      if (unchanged.some((own) => own.id === id)) continue;
      this.#renewed.add(id);
      unit.release();
    }
  }

  /** Breaks off the work on all units. */
  lose(): void {
    for (const unit of this.#held.values()) unit.lose();
  }

  /** Takes a unit as it was seen, unless somebody was quicker. Throws `DatabaseError`. */
  async claim(own: OwnUnit, row: UnitRow): Promise<void> {
    const { cluster, clock, observer, log, visit, name, neighbours, stop, abort } = this.#input;
    const { host, leaseMs, suspectAfterMs } = cluster.config;
    const claimedAt = momentOf(clock);
    const by = { name: host, instance: name.instance };
    const grant = await cluster.membership.claim(row, neighbours.seenOf(row), by);
    if (grant === null) return;
    neighbours.noteSeen(own.id, grant);
    this.#lastEpochs.set(own.id, grant.epoch);
    const from = row.holder === null ? null : row.holderHost;
    observer.taken(own.name, from);
    const facts = { epoch: grant.epoch, ...(from !== null && { from }) };
    // A pass tells of files.
    log[visit === undefined ? 'info' : 'debug'](`${own.name} is synced by this host now`, facts);
    const { stateFile, work } = this.#input;
    const unit = new HeldUnit({
      ...{ name: own.name, grant, claimedAt, leaseMs, suspectAfterMs, host, stateFile, clock, log },
      ledger: cluster.ledger,
      shipped: observer.shipped,
      work: (worked) => work(own, worked),
    });
    this.#held.set(own.id, unit);
    // Whoever stopped this host while the database was asked found nothing to let go of.
    if (stop.aborted) unit.release();
    if (abort.aborted) unit.lose();
    const running = this.#run(own, unit)
      .catch((error: unknown) => {
        this.#defect ??= { error };
        this.#input.left();
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Frees a unit whose holder is gone, unless it is proven meanwhile. The claim keeps that one from going on. Throws `DatabaseError`. */
  async free(row: UnitRow): Promise<void> {
    const { cluster, name, neighbours } = this.#input;
    const by = { name: row.holderHost ?? cluster.config.host, instance: name.instance };
    const grant = await cluster.membership.claim(row, neighbours.seenOf(row), by);
    if (grant === null) return;
    neighbours.noteSeen(row.id, grant);
    await cluster.ledger.release(grant);
  }

  /** Resolves when nothing runs any more. */
  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #run(own: OwnUnit, unit: HeldUnit): Promise<void> {
    const { clock, log, observer, stop, visit, left, cluster, neighbours } = this.#input;
    let end: UnitEnd | null = null;
    try {
      end = await unit.run();
      if (end.kind === 'failed') this.#failures.set(own.id, { name: own.name, reason: end.reason });
      else this.#failures.delete(own.id);
      visit?.ended(own.id, end);
      observer.ended(own.name, end);
    } finally {
      this.#held.delete(own.id);
      neighbours.noteSeen(own.id, { epoch: unit.grant.epoch, seq: unit.seq });
      if (!this.#renewed.delete(own.id) && end?.kind !== 'lost')
        this.#avoided.set(own.id, clock.monotonic() + AVOID_MS);
      left();
    }
    if (end.kind === 'failed')
      log.error(
        `${own.name} cannot be synced by this host: ${end.reason}${visit === undefined ? '; it is retried' : ''}`,
      );
    else if (!stop.aborted && visit === undefined)
      log.info(`${own.name} is not synced by this host any more`, { end: end.kind });
    await cluster.messages.wake(cluster.config.host).catch(() => undefined);
  }
}
