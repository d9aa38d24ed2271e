import type { ClusterView, HostRow, SeenOfUnit, UnitRow } from '../../cluster/membership.ts';
import { Standstill } from '../../domain/unit-moves.ts';
import { isSomebodys, overlapOf, type OwnUnit } from './own-units.ts';

/** What a host knows of all hosts and units, and for how long each has not stirred. */
export class Neighbours {
  readonly #host: string;
  readonly #leaseMs: number;
  readonly #monotonic: () => number;
  readonly #unitMarks = new Standstill<number>();
  readonly #hostMarks = new Standstill<string>();
  readonly #highest = new Map<number, SeenOfUnit>();
  #view: ClusterView | null = null;
  /** When the view was asked for, epoch milliseconds. */
  #askedAtMs = 0;
  /** Since when the database has been running, as far as this host could see it; `null`: for longer than this host. */
  #databaseSinceMs: number | null = null;
  /** Numbers of the units that nobody may work on. */
  #halted: ReadonlySet<number> = new Set();

  /** @param monotonic - milliseconds that never go back. */
  constructor(host: string, leaseMs: number, monotonic: () => number) {
    this.#host = host;
    this.#leaseMs = leaseMs;
    this.#monotonic = monotonic;
  }

  /** What was seen last; `null`: nothing. */
  get view(): ClusterView | null {
    return this.#view;
  }

  /** Takes note of what a question brought back that was asked at a moment, epoch milliseconds. */
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

  /** The highest epoch and number of shipments of a unit that were ever seen: they never go back, also where the database does. */
  seenOf({ id }: Pick<UnitRow, 'id'>): SeenOfUnit {
    return this.#highest.get(id) ?? { epoch: 0, seq: 0 };
  }

  /** Takes note of numbers of a unit that the ledger gave out, or took. */
  noteSeen(id: number, { epoch, seq }: SeenOfUnit): void {
    const before = this.seenOf({ id });
    this.#highest.set(id, { epoch: Math.max(epoch, before.epoch), seq: Math.max(seq, before.seq) });
  }

  /** Hosts that were heard of within a lease, this one among them. */
  get alive(): readonly HostRow[] {
    const hosts = this.#view?.hosts ?? [];
    return hosts.filter(({ name }) => name === this.#host || this.silentMs(name) < this.#leaseMs);
  }

  /** Whether the database forgot who took a unit last: whoever did so may be at work on it. */
  hasForgotten({ id, epoch }: Pick<UnitRow, 'id' | 'epoch'>): boolean {
    return epoch < this.seenOf({ id }).epoch;
  }

  /** Whether the database was started within the last lease: it may have forgotten a claim of which this host has not heard. */
  get isDatabaseNew(): boolean {
    return this.#databaseSinceMs !== null && this.#monotonic() - this.#databaseSinceMs < this.#leaseMs;
  }

  /** For how long a host was not heard of, milliseconds. */
  silentMs(name: string): number {
    return this.#hostMarks.forMs(name, this.#monotonic());
  }

  /** For how long a unit has not been proven, milliseconds. */
  stillMs({ id }: Pick<UnitRow, 'id'>): number {
    return this.#unitMarks.forMs(id, this.#monotonic());
  }

  /** When the next unit that another process holds will have stood still for a lease, milliseconds from now; `Infinity`: none will. */
  untilStaleMs(instance: string): number {
    const others = (this.#view?.units ?? []).filter(({ holder }) => holder !== null && holder !== instance);
    const left = others.map((unit) => this.#leaseMs - this.stillMs(unit)).filter((ms) => ms > 0);
    return Math.min(Infinity, ...left);
  }

  /**
   * All other units of a unit's target have on the platform what was there by then, by our clock, epoch milliseconds: a file that
   * is missing may have moved to one of them. Units that are nobody's are not waited for, nor those that nobody may work on.
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

  /** Nobody could prove anything while the database was down, and it may be older than it was. */
  #beginAnew(nowMs: number): void {
    this.#unitMarks.forget();
    this.#hostMarks.forget();
    this.#databaseSinceMs = nowMs;
  }
}
