import type { ClusterView, HostRow, UnitRow } from '../../cluster/membership.ts';
import {
  assignFree,
  fairShareOf,
  type Assignable,
  isToTake,
  type TakeFacts,
} from '../../domain/unit-moves.ts';
import { ableHosts, seeingInstead } from '../../domain/hindrance.ts';
import { beatMs } from '../../domain/lease.ts';
import type { Log } from '../../service/logger.ts';
import type { DeclaredUnits } from './declared-units.ts';
import type { HeldUnits } from './held-units.ts';
import type { HostName } from './host-name.ts';
import type { Neighbours } from './neighbours.ts';
import type { Cluster } from './open-cluster.ts';
import { mayGiveKeysOf, overlapOf, type OwnUnit } from './own-units.ts';
import type { Sights } from './sights.ts';
import type { Visit } from './visit.ts';

/** A free unit that is another host's to take is taken all the same after so many beats. */
const BEATS_OF_COURTESY = 3;

/** A unit is let go of that its holder has not seen for so many beats: by then the other hosts have looked at its directories as well. */
const BEATS_OF_DOUBT = 2;

/** What is known where it is decided about units. */
export interface UnitDecisionsInput {
  readonly cluster: Pick<Cluster, 'config'>;
  readonly name: HostName;
  readonly neighbours: Neighbours;
  readonly declared: DeclaredUnits;
  readonly sights: Pick<Sights, 'unseenForMs'>;
  readonly held: HeldUnits;
  readonly log: Log;
  /** Given where the host only comes to take each unit once. */
  readonly visit?: Visit;
  /** No unit is taken any more once it aborts. */
  readonly stop: AbortSignal;
}

/** Decides about the units of this host's configuration: which of them it takes, which it lets go of, and which nobody may work on. */
export class UnitDecisions {
  readonly #input: UnitDecisionsInput;
  #blocked: ReadonlyMap<string, string> = new Map();
  /** Which host is to take each unit that is free, by its number. */
  #assigned: ReadonlyMap<number, string> = new Map();
  #takesNone = false;

  constructor(input: UnitDecisionsInput) {
    this.#input = input;
  }

  /** Names of the units that nobody may work on, and why. */
  get blocked(): ReadonlyMap<string, string> {
    return this.#blocked;
  }

  /** Has no unit be taken any more. */
  takeNone(): void {
    this.#takesNone = true;
  }

  /** Finds the units that nobody may work on, and the host that is to have each that is free. */
  look(view: ClusterView): void {
    const { declared, neighbours, log } = this.#input;
    const { alive } = neighbours;
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

  /** Numbers of the units that this host has to get from others to have as many as they. */
  fairShare(): readonly UnitRow[] {
    const { cluster, neighbours } = this.#input;
    const { units = [] } = neighbours.view ?? {};
    const wanted = fairShareOf(
      cluster.config.host,
      units.map((row) => this.#assignable(row)),
    );
    return units.filter(({ id }) => wanted.includes(id));
  }

  #assignable(row: UnitRow): Assignable {
    const { cluster, neighbours } = this.#input;
    const isHeld = row.holder !== null && neighbours.stillMs(row) < cluster.config.leaseMs;
    const candidates = ableHosts(this.#staying, row.id);
    return {
      id: row.id,
      holder: isHeld ? row.holderHost : null,
      candidates: candidates.map(({ name }) => name),
    };
  }

  /** What this host does about a unit, as it was seen last. */
  about(own: OwnUnit, row: UnitRow): 'take' | 'release' | 'leave' {
    if (this.#input.held.get(own.id) === undefined)
      return this.#couldTake(own) && this.#isToTake(own, row) ? 'take' : 'leave';
    return this.#blocked.has(own.name) || this.#isSeenElsewhere(own) ? 'release' : 'leave';
  }

  /** The host that a unit is left to since this one does not see its directories; `null`: it is not. */
  leftTo({ id }: OwnUnit): string | null {
    const { cluster, neighbours, visit } = this.#input;
    const hosts = visit === undefined ? this.#staying : neighbours.alive;
    return seeingInstead(hosts, cluster.config.host, id);
  }

  #isSeenElsewhere(own: OwnUnit): boolean {
    const { cluster, sights } = this.#input;
    const doubtMs = BEATS_OF_DOUBT * beatMs(cluster.config.leaseMs);
    return (sights.unseenForMs(own.id) ?? 0) >= doubtMs && this.leftTo(own) !== null;
  }

  /** Hosts that are up, but for those that leave after a pass. */
  get #staying(): readonly HostRow[] {
    return this.#input.neighbours.alive.filter(({ isVisitor }) => !isVisitor);
  }

  /**
   * Units in the way of this host's that no live host has in its configuration any more, and whose holder is gone: their sources were
   * renamed, or put together otherwise.
   */
  abandoned(view: ClusterView): readonly UnitRow[] {
    const { cluster, declared, name, neighbours } = this.#input;
    return view.units.filter((row) => {
      if (row.holder === null || declared.find(row.id) !== undefined) return false;
      const isGone = name.wasHere(row.holder) || neighbours.stillMs(row) >= cluster.config.leaseMs;
      const isConfigured = neighbours.alive.some(({ units }) => units.includes(row.id));
      return isGone && !isConfigured && declared.all.some((own) => mayGiveKeysOf(own, row));
    });
  }

  #couldTake(own: OwnUnit): boolean {
    const { held, visit, stop } = this.#input;
    if (stop.aborted || this.#takesNone || visit?.mayTake(own) === false) return false;
    return !this.#blocked.has(own.name) && this.leftTo(own) === null && !held.avoids(own.id);
  }

  #isToTake(own: OwnUnit, row: UnitRow): boolean {
    const { cluster, neighbours, visit } = this.#input;
    const { leaseMs, host } = cluster.config;
    return isToTake({
      ...{ holder: this.#holderOf(row), stillMs: neighbours.stillMs(row), leaseMs },
      isAssigned: visit !== undefined || this.#assigned.get(own.id) === host,
      courtesyMs: BEATS_OF_COURTESY * beatMs(leaseMs),
    });
  }

  #holderOf(row: UnitRow): TakeFacts['holder'] {
    const { name, neighbours, held } = this.#input;
    // Whoever took it since may be at work.
    if (neighbours.hasForgotten(row) && !held.hadLast(row)) return 'another-host';
    // A database that went back in time may have forgotten its holder.
    if (row.holder === null) return neighbours.isDatabaseNew ? 'another-host' : 'nobody';
    // This process alone has the state file of this host: whoever held it here has ended.
    return name.wasHere(row.holder) ? 'this-host' : 'another-host';
  }
}
