import type { ClusterView, HostRow, SeenOfUnit, UnitRow } from '../../cluster/shared-ledger.ts';
import { Standstill } from '../../domain/unit.ts';
import { isSomebodys, overlapOf, type OwnUnit } from './own-units.ts';

/** The last known state of all hosts and units, and how long each has been unchanged. */
export class OtherHosts {
  readonly #host: string;
  readonly #leaseMs: number;
  readonly #monotonic: () => number;
  readonly #unitMarks = new Standstill<number>();
  readonly #hostMarks = new Standstill<string>();
  readonly #highest = new Map<number, SeenOfUnit>();
  #view: ClusterView | null = null;
  /** When the view was requested, epoch milliseconds. */
  #askedAtMs = 0;
  /** When this host saw the database restart, milliseconds of the monotonic clock; `null`: it did not. */
  #databaseSinceMs: number | null = null;
  /** Numbers of the units that no host may work on. */
  #halted: ReadonlySet<number> = new Set();

  /** @param monotonic - milliseconds that never go back. */
  constructor(host: string, leaseMs: number, monotonic: () => number) {
    this.#host = host;
    this.#leaseMs = leaseMs;
    this.#monotonic = monotonic;
  }

  /** The last answer; `null`: none yet. */
  get view(): ClusterView | null {
    return this.#view;
  }

  /** Records an answer that was requested at `askedAtMs`, epoch milliseconds. */
  note(view: ClusterView, askedAtMs: number): void {
    const nowMs = this.#monotonic();
    if (this.#view !== null && this.#view.databaseRun !== view.databaseRun) this.#beginAnew(nowMs);
    this.#view = view;
    this.#askedAtMs = askedAtMs;
    for (const { name, instance, beat } of view.hosts)
      this.#hostMarks.note(name, `${instance} ${beat}`, nowMs);
    for (const { id, epoch, beat, seq } of view.units) {
      this.#unitMarks.note(id, `${epoch} ${beat}`, nowMs);
      this.noteSeen(id, { epoch, seq });
    }
    const { alive } = this;
    this.#halted = new Set(
      view.units.filter((unit) => overlapOf(unit, view, alive) !== null).map(({ id }) => id),
    );
  }

  /**
   * Returns the highest epoch and number of shipments ever seen of a unit. They never go back, even if the database
   * does.
   */
  seenOf({ id }: Pick<UnitRow, 'id'>): SeenOfUnit {
    return this.#highest.get(id) ?? { epoch: 0, seq: 0 };
  }

  /** Records an epoch and a number of shipments that the ledger reported. */
  noteSeen(id: number, { epoch, seq }: SeenOfUnit): void {
    const before = this.seenOf({ id });
    this.#highest.set(id, { epoch: Math.max(epoch, before.epoch), seq: Math.max(seq, before.seq) });
  }

  /** Hosts heard of within a lease, and this host. */
  get alive(): readonly HostRow[] {
    const hosts = this.#view?.hosts ?? [];
    return hosts.filter(({ name }) => name === this.#host || this.silentMs(name) < this.#leaseMs);
  }

  /** Returns whether the database forgot who last took a unit: that host may still work on it. */
  hasForgotten({ id, epoch }: Pick<UnitRow, 'id' | 'epoch'>): boolean {
    return epoch < this.seenOf({ id }).epoch;
  }

  /** True if the database was restarted within the last lease: it may have forgotten a claim of another host. */
  get isDatabaseNew(): boolean {
    return this.#databaseSinceMs !== null && this.#monotonic() - this.#databaseSinceMs < this.#leaseMs;
  }

  /** Returns how long a host has not been heard of, milliseconds. */
  silentMs(name: string): number {
    return this.#hostMarks.forMs(name, this.#monotonic());
  }

  /** Returns how long the lease of a unit has not been proven, milliseconds. */
  stillMs({ id }: Pick<UnitRow, 'id'>): number {
    return this.#unitMarks.forMs(id, this.#monotonic());
  }

  /** Returns when the next lease of another process runs out, milliseconds from now; `Infinity`: none does. */
  untilStaleMs(instance: string): number {
    const others = (this.#view?.units ?? []).filter(({ holder }) => holder !== null && holder !== instance);
    const left = others.map((unit) => this.#leaseMs - this.stillMs(unit)).filter((ms) => ms > 0);
    return Math.min(Infinity, ...left);
  }

  /**
   * Returns until when all changes of the other units of a unit's target are on the platform, by the local clock in
   * epoch milliseconds: a missing file may have moved to one of them. Ignores halted units, and units that no host
   * holds or could take.
   */
  othersSettledUntilMs({ id, target }: OwnUnit): number {
    const { alive } = this;
    const others = (this.#view?.units ?? []).filter(
      (unit) =>
        unit.id !== id && unit.target === target && !this.#halted.has(unit.id) && isSomebodys(unit, alive),
    );
    const moments = others.map(({ settledAgeMs }) =>
      settledAgeMs === null ? 0 : this.#askedAtMs - settledAgeMs,
    );
    return Math.min(Infinity, ...moments);
  }

  /**
   * Starts all waits again: no lease could be proven while the database was down, and it may have gone back in time.
   */
  #beginAnew(nowMs: number): void {
    this.#unitMarks.forget();
    this.#hostMarks.forget();
    this.#databaseSinceMs = nowMs;
  }
}
