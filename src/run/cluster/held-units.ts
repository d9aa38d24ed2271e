import type { ClusterView, UnitRow } from '../../cluster/shared-ledger.ts';
import { momentOf, type Moment } from '../../domain/lease.ts';
import { HeldUnit, type UnitEnd, type WorkedUnit } from './held-unit.ts';
import type { HostName } from './host-name.ts';
import type { OtherHosts } from './other-hosts.ts';
import { wakeOthers, type ClusterHost } from './open-cluster.ts';
import type { OwnUnit } from './own-units.ts';
import type { Visit } from './visit.ts';

/** A unit that could not be worked on is left to other hosts for this long, milliseconds. */
const AVOID_MS = 15_000;

export interface ClusterObserver {
  /**
   * Called after the first beat and after each change. `trouble`: why this host cannot take part; `null`: it takes
   * part.
   */
  readonly stands: (trouble: string | null) => void;
  readonly shipped: (seconds: number) => void;
  /** `from`: the host that held the unit without releasing it; `null`: it was free. */
  readonly taken: (from: string | null) => void;
  readonly ended: (end: UnitEnd) => void;
}

export interface UnitWork extends ClusterHost {
  readonly work: (unit: OwnUnit, worked: WorkedUnit) => Promise<void>;
  readonly observer?: ClusterObserver;
  /** Set if this host only visits the cluster, to take each unit once. */
  readonly visit?: Visit;
  /** Once it aborts, no more units are taken and held units are released. */
  readonly stop: AbortSignal;
  /** Once it aborts, the work on all units is cut off. */
  readonly abort: AbortSignal;
}

interface HeldUnitsInput extends UnitWork {
  readonly name: HostName;
  readonly otherHosts: OtherHosts;
  /** Called when a unit is not held any more. */
  readonly left: () => void;
}

/**
 * A unit whose lease a beat should prove. `seq`: the number of shipments that the ledger had taken when the beat was
 * sent.
 */
interface UnitToProve {
  readonly unit: HeldUnit;
  readonly seq: number;
}

/** The units that this host holds: takes them, runs their work, and releases them. */
export class HeldUnits {
  readonly #input: HeldUnitsInput;
  readonly #held = new Map<number, HeldUnit>();
  readonly #running = new Set<Promise<void>>();
  /** Until when units are left to other hosts, milliseconds of the monotonic clock. */
  readonly #avoided = new Map<number, number>();
  /** Units that are released only to be taken again at once. */
  readonly #renewed = new Set<number>();
  /** Why the last attempts to work on units failed, by unit number. */
  readonly #failures = new Map<number, { readonly name: string; readonly reason: string }>();
  /** An error outside the work of a unit, which concerns the whole host. */
  #defect: { readonly error: unknown } | null = null;
  /** The epochs in which this host last took units, by unit number. */
  readonly #lastEpochs = new Map<number, number>();

  constructor(input: HeldUnitsInput) {
    this.#input = input;
  }

  get names(): readonly string[] {
    return [...this.#held.values()].map(({ name }) => name);
  }

  /** Why the last attempts to work on units failed, by unit name. */
  get failures(): ReadonlyMap<string, string> {
    return new Map([...this.#failures.values()].map(({ name, reason }) => [name, reason]));
  }

  /** Throws a defect that occurred outside the work of a unit. */
  demandSound(): void {
    if (this.#defect !== null) throw this.#defect.error;
  }

  get isEmpty(): boolean {
    return this.#held.size === 0;
  }

  get(id: number): HeldUnit | undefined {
    return this.#held.get(id);
  }

  /** Returns whether a unit is left to other hosts for now. */
  avoids(id: number): boolean {
    return (this.#avoided.get(id) ?? 0) > this.#input.clock.monotonic();
  }

  /** The units whose leases the next beat should prove. */
  get toProve(): readonly UnitToProve[] {
    return [...this.#held.values()].map((unit) => ({ unit, seq: unit.seq }));
  }

  /** Returns whether no host is known to have taken a unit since this host did. */
  hadLast({ id }: Pick<UnitRow, 'id'>): boolean {
    return this.#lastEpochs.get(id) === this.#input.otherHosts.seenOf({ id }).epoch;
  }

  /** Applies the answer to a beat: proves the leases of the units asked about, or loses the units. */
  note(asked: readonly UnitToProve[], view: ClusterView, sentAt: Moment): void {
    for (const { unit, seq } of asked) {
      const { grant } = unit;
      const row = view.units.find(({ id }) => id === grant.unit);
      const isProven = view.proven.includes(grant.unit);
      // Numbers of shipments only grow: the ledger lost shipments that it had taken.
      const isOlder = row !== undefined && row.seq < seq;
      if (isOlder) this.#input.log.error(`the database went back in time: ${unit.name} is let go of`);
      if (isProven && !isOlder) unit.lease.prove(sentAt);
      else if (this.#held.has(grant.unit)) unit.lose();
    }
  }

  /** Releases all units in order. */
  release(): void {
    for (const unit of this.#held.values()) unit.release();
  }

  /** Releases the units that changed in the configuration; what remains of them is taken again at once. */
  renew(unchanged: readonly OwnUnit[]): void {
    for (const [id, unit] of this.#held) {
      if (unchanged.some((own) => own.id === id)) continue;
      this.#renewed.add(id);
      unit.release();
    }
  }

  /** Cuts off the work on all units. */
  lose(): void {
    for (const unit of this.#held.values()) unit.lose();
  }

  /** Takes a unit as it was seen, unless another host was quicker. Throws `DatabaseError`. */
  async claim(own: OwnUnit, row: UnitRow): Promise<void> {
    const { cluster, clock, observer, log, visit, name, otherHosts, stop, abort } = this.#input;
    const claimedAt = momentOf(clock);
    const by = { name: cluster.config.host, instance: name.instance };
    const grant = await cluster.membership.claim(row, otherHosts.seenOf(row), by);
    if (grant === null) return;
    otherHosts.noteSeen(own.id, grant);
    this.#lastEpochs.set(own.id, grant.epoch);
    const from = row.holder === null ? null : row.holderHost;
    observer?.taken(from);
    const facts = { epoch: grant.epoch, ...(from !== null && { from }) };
    // A single pass logs files rather than units.
    log[visit === undefined ? 'info' : 'debug'](`${own.name} is synced by this host now`, facts);
    const { config, work } = this.#input;
    const unit = new HeldUnit({
      ...{ name: own.name, grant, claimedAt, cluster, clock, log },
      stateFile: config().stateFile,
      shipped: (seconds) => observer?.shipped(seconds),
      work: (worked) => work(own, worked),
    });
    this.#held.set(own.id, unit);
    // A stop during the claim found no unit to release.
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

  /**
   * Frees a unit whose holder is gone, unless its lease is proven in the meantime. The claim keeps that holder from
   * continuing. Throws `DatabaseError`.
   */
  async free(row: UnitRow): Promise<void> {
    const { cluster, name, otherHosts } = this.#input;
    const by = { name: row.holderHost ?? cluster.config.host, instance: name.instance };
    const grant = await cluster.membership.claim(row, otherHosts.seenOf(row), by);
    if (grant === null) return;
    otherHosts.noteSeen(row.id, grant);
    await cluster.ledger.release(grant);
  }

  /** Resolves when no work is running any more. */
  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #run(own: OwnUnit, unit: HeldUnit): Promise<void> {
    const { clock, log, observer, stop, visit, left, cluster, otherHosts } = this.#input;
    let end: UnitEnd | null = null;
    try {
      end = await unit.run();
      if (end.kind === 'failed') this.#failures.set(own.id, { name: own.name, reason: end.reason });
      else this.#failures.delete(own.id);
      visit?.ended(own.id, end);
      observer?.ended(end);
    } finally {
      this.#held.delete(own.id);
      otherHosts.noteSeen(own.id, { epoch: unit.grant.epoch, seq: unit.seq });
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
    await wakeOthers(cluster);
  }
}
