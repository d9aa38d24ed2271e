import type { ClusterView, HostRow, UnitRow } from '../../cluster/shared-ledger.ts';
import { assignFree, fairShareOf, type Assignable, isToTake, type TakeFacts } from '../../domain/unit.ts';
import { ableHosts, seeingInstead } from '../../domain/hindrance.ts';
import { beatMs } from '../../domain/lease.ts';
import { type DeclaredUnits, mayGiveKeysOf, overlapOf, type OwnUnit } from './own-units.ts';
import type { HeldUnits, UnitWork } from './held-units.ts';
import type { HostName } from './host-name.ts';
import type { OtherHosts } from './other-hosts.ts';
import type { DirectoryChecks } from './directory-checks.ts';

/** After this many beats a free unit is taken even if it was assigned to another host. */
const BEATS_OF_COURTESY = 3;

/**
 * A holder that has not seen a unit for this many beats releases it: by then the other hosts have checked its
 * directories too.
 */
const BEATS_OF_DOUBT = 2;

interface UnitDecisionsInput extends Pick<UnitWork, 'cluster' | 'clock' | 'log' | 'visit' | 'stop'> {
  readonly name: HostName;
  readonly otherHosts: OtherHosts;
  readonly declared: DeclaredUnits;
  readonly directoryChecks: Pick<DirectoryChecks, 'unseenForMs'>;
  readonly held: HeldUnits;
}

/** Decides which units of its configuration this host takes or releases, and which no host may work on. */
export class UnitDecisions {
  readonly #input: UnitDecisionsInput;
  #blocked: ReadonlyMap<string, string> = new Map();
  /** The host that should take each free unit, by unit number. */
  #assigned: ReadonlyMap<number, string> = new Map();
  #takesNone = false;
  /** True once this host has asked for its fair share of the units. */
  #hasAsked = false;

  constructor(input: UnitDecisionsInput) {
    this.#input = input;
  }

  /** Why units may not be worked on, by name. */
  get blocked(): ReadonlyMap<string, string> {
    return this.#blocked;
  }

  /** Takes no more units from now on. */
  takeNone(): void {
    this.#takesNone = true;
  }

  /** Updates which units are blocked, and which host should take each free unit. */
  look(view: ClusterView): void {
    const { declared, otherHosts, log } = this.#input;
    const { alive } = otherHosts;
    const blockedBefore = JSON.stringify([...this.#blocked]);
    const found = declared.all.flatMap((own) => {
      const reason = overlapOf(own, view, alive);
      return reason === null ? [] : [[own.name, reason] as const];
    });
    this.#blocked = new Map(found);
    if (JSON.stringify(found) !== blockedBefore)
      for (const [name, reason] of found) log.error(`${name} is halted: ${reason}`);
    this.#assigned = new Map(assignFree(view.units.map((row) => this.#assignable(row))));
  }

  /**
   * Asks, once after joining, for as many units as other hosts have. Waits a lease first, to know which hosts are
   * alive. Returns whether it asked just now. Throws `DatabaseError`.
   */
  async askForFairShare({ units }: ClusterView): Promise<boolean> {
    const { cluster, clock, name } = this.#input;
    const { host, leaseMs } = cluster.config;
    const { joinedAtMs } = name;
    if (this.#hasAsked || joinedAtMs === null || clock.monotonic() - joinedAtMs < leaseMs) return false;
    const wanted = fairShareOf(
      host,
      units.map((row) => this.#assignable(row)),
    );
    for (const { id, epoch } of units)
      if (wanted.includes(id)) await cluster.membership.addCommand(id, 'release', { epoch });
    this.#hasAsked = true;
    return true;
  }

  #assignable(row: UnitRow): Assignable {
    const { cluster, otherHosts } = this.#input;
    const isHeld = row.holder !== null && otherHosts.stillMs(row) < cluster.config.leaseMs;
    const candidates = ableHosts(this.#staying, row.id);
    return {
      id: row.id,
      holder: isHeld ? row.holderHost : null,
      candidates: candidates.map(({ name }) => name),
    };
  }

  /** Decides about a unit, by its last seen row. */
  about(own: OwnUnit, row: UnitRow): 'take' | 'release' | 'leave' {
    if (this.#input.held.get(own.id) === undefined)
      return this.#couldTake(own) && this.#isToTake(own, row) ? 'take' : 'leave';
    return this.#blocked.has(own.name) || this.#isSeenElsewhere(own) ? 'release' : 'leave';
  }

  /** Returns the host that sees the unit's directories if this host does not; `null` otherwise. */
  leftTo({ id }: OwnUnit): string | null {
    const { cluster, otherHosts, visit } = this.#input;
    const hosts = visit === undefined ? this.#staying : otherHosts.alive;
    return seeingInstead(hosts, cluster.config.host, id);
  }

  #isSeenElsewhere(own: OwnUnit): boolean {
    const { cluster, directoryChecks } = this.#input;
    const doubtMs = BEATS_OF_DOUBT * beatMs(cluster.config.leaseMs);
    return (directoryChecks.unseenForMs(own.id) ?? 0) >= doubtMs && this.leftTo(own) !== null;
  }

  /** Live hosts, without visitors. */
  get #staying(): readonly HostRow[] {
    return this.#input.otherHosts.alive.filter(({ isVisitor }) => !isVisitor);
  }

  /**
   * Returns units whose keys may be those of this host's units, that no live host has configured and whose holder is
   * gone: their sources were renamed or regrouped.
   */
  abandoned(view: ClusterView): readonly UnitRow[] {
    const { cluster, declared, name, otherHosts } = this.#input;
    return view.units.filter((row) => {
      if (row.holder === null || declared.find(row.id) !== undefined) return false;
      const isGone = name.wasHere(row.holder) || otherHosts.stillMs(row) >= cluster.config.leaseMs;
      const isConfigured = otherHosts.alive.some(({ units }) => units.includes(row.id));
      return isGone && !isConfigured && declared.all.some((own) => mayGiveKeysOf(own, row));
    });
  }

  #couldTake(own: OwnUnit): boolean {
    const { held, visit, stop } = this.#input;
    if (stop.aborted || this.#takesNone || visit?.mayTake(own) === false) return false;
    return !this.#blocked.has(own.name) && this.leftTo(own) === null && !held.avoids(own.id);
  }

  #isToTake(own: OwnUnit, row: UnitRow): boolean {
    const { cluster, otherHosts, visit } = this.#input;
    const { leaseMs, host } = cluster.config;
    return isToTake({
      ...{ holder: this.#holderOf(row), stillMs: otherHosts.stillMs(row), leaseMs },
      isAssigned: visit !== undefined || this.#assigned.get(own.id) === host,
      courtesyMs: BEATS_OF_COURTESY * beatMs(leaseMs),
    });
  }

  #holderOf(row: UnitRow): TakeFacts['holder'] {
    const { name, otherHosts, held } = this.#input;
    // The forgotten holder may still work on the unit.
    if (otherHosts.hasForgotten(row) && !held.hadLast(row)) return 'another-host';
    // A database that went back in time may have forgotten the holder.
    if (row.holder === null) return otherHosts.isDatabaseNew ? 'another-host' : 'nobody';
    // Only this process has this host's state file: an earlier holder on this machine has ended.
    return name.wasHere(row.holder) ? 'this-host' : 'another-host';
  }
}
