import type { ClusterView, HostRow, UnitRow } from '../../cluster/membership.ts';
import { bestHost } from '../../domain/assignment.ts';
import { Standstill } from '../../domain/standstill.ts';
import { isOfNotifications } from '../../domain/unit.ts';
import { isSomebodys, overlapOf, weightFor, type OwnUnit } from './own-units.ts';

/** What a host knows of all hosts and units, and for how long each has not stirred. */
export class Neighbours {
  readonly #host: string;
  readonly #leaseMs: number;
  readonly #monotonic: () => number;
  readonly #unitMarks = new Standstill<number>();
  readonly #hostMarks = new Standstill<string>();
  readonly #highestEpochs = new Map<number, number>();
  #view: ClusterView | null = null;
  /** When the view was asked for, epoch milliseconds. */
  #askedAtMs = 0;
  /** Since when the database has been running, as far as this host could see it; `null`: for longer than this host. */
  #databaseSinceMs: number | null = null;
  /** Numbers of the units that nobody may work on. */
  #halted: ReadonlySet<number> = new Set();
  #aliveNames = '';
  #aliveSinceMs: number;

  /** @param monotonic - milliseconds that never go back. */
  constructor(host: string, leaseMs: number, monotonic: () => number) {
    this.#host = host;
    this.#leaseMs = leaseMs;
    this.#monotonic = monotonic;
    this.#aliveSinceMs = monotonic();
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
    for (const { id, epoch, beat } of view.units) {
      this.#unitMarks.note(id, `${epoch} ${beat}`, nowMs);
      this.noteEpoch(id, epoch);
    }
    const { alive } = this;
    this.#halted = new Set(
      view.units.filter((unit) => overlapOf(unit, view, alive) !== null).map(({ id }) => id),
    );
    const names = alive.map(({ name, weight, units }) => JSON.stringify([name, weight, units]));
    const all = names.sort().join();
    if (all !== this.#aliveNames) this.#aliveSinceMs = nowMs;
    this.#aliveNames = all;
  }

  /** An epoch was given out: they never go back, also where the database does. */
  noteEpoch(id: number, epoch: number): void {
    this.#highestEpochs.set(id, Math.max(epoch, this.highestEpoch(id)));
  }

  /** The highest epoch of a unit that was ever seen. */
  highestEpoch(id: number): number {
    return this.#highestEpochs.get(id) ?? 0;
  }

  /** Hosts that were heard of within a lease, this one among them. */
  get alive(): readonly HostRow[] {
    const hosts = this.#view?.hosts ?? [];
    return hosts.filter(({ name }) => name === this.#host || this.silentMs(name) < this.#leaseMs);
  }

  /** Whether the database forgot who took a unit last: whoever did so may be at work on it, and knows more than the ledger. */
  hasForgotten({ id, epoch }: Pick<UnitRow, 'id' | 'epoch'>): boolean {
    return epoch < this.highestEpoch(id);
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

  /** For how long the same hosts have been there, milliseconds. */
  get unchangedMs(): number {
    return this.#monotonic() - this.#aliveSinceMs;
  }

  /** Whether of all hosts that could take a unit this one is to. */
  isOurs(own: Pick<OwnUnit, 'id' | 'name' | 'sources'>): boolean {
    const candidates = this.#ableTo(own).map((host) => ({ host: host.name, weight: weightFor(own, host) }));
    return bestHost(own.name, candidates) === this.#host;
  }

  /** Whether another host could take a unit. */
  canOthersTake(own: Pick<OwnUnit, 'id' | 'sources'>): boolean {
    return this.#ableTo(own).some(({ name }) => name !== this.#host);
  }

  /**
   * All other units of a unit's target have on the platform what was there by then, by our clock, epoch milliseconds: a file that
   * is missing may have moved to one of them. Units that are nobody's are not waited for, nor those that nobody may work on.
   */
  othersSettledUntilMs({ id, target }: OwnUnit): number {
    const { alive } = this;
    const others = (this.#view?.units ?? []).filter(
      (unit) =>
        unit.id !== id &&
        unit.target === target &&
        !isOfNotifications(unit) &&
        !this.#halted.has(unit.id) &&
        isSomebodys(unit, alive),
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

  #ableTo(own: Pick<OwnUnit, 'id' | 'sources'>): HostRow[] {
    return this.alive.filter((host) => weightFor(own, host) > 0 && host.units.includes(own.id));
  }
}
