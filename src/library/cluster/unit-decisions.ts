import type { ClusterView, UnitRow } from '../../cluster/membership.ts';
import { beatMs } from '../../domain/lease.ts';
import { isOfNotifications } from '../../domain/unit.ts';
import { isToMove, isToTake, type TakeFacts } from '../../domain/unit-moves.ts';
import type { Log } from '../../service/logger.ts';
import type { DeclaredUnits } from './declared-units.ts';
import { formerUnits } from './former-units.ts';
import type { HeldUnits } from './held-units.ts';
import type { HostName } from './host-name.ts';
import type { Neighbours } from './neighbours.ts';
import type { Cluster } from './open-cluster.ts';
import { isSameUnit, overlapOf, type OwnUnit } from './own-units.ts';
import type { Visit } from './visit.ts';

/** A free unit that is another host's to take is taken all the same after so many beats. */
const BEATS_OF_COURTESY = 3;

/** What is known where it is decided about units. */
export interface UnitDecisionsInput {
  readonly cluster: Pick<Cluster, 'config'>;
  readonly name: HostName;
  readonly neighbours: Neighbours;
  readonly declared: DeclaredUnits;
  readonly held: HeldUnits;
  readonly log: Log;
  /** Whether a unit has nothing under way just now, so that it may move. */
  readonly isQuiet: (unit: OwnUnit) => boolean;
  /** Given where the host only comes to take each unit once. */
  readonly visit?: Visit;
  /** No unit is taken any more once it aborts. */
  readonly stop: AbortSignal;
}

/** Decides about the units of this host's configuration: which of them it takes, which it lets go of, and which nobody may work on. */
export class UnitDecisions {
  readonly #input: UnitDecisionsInput;
  #blocked: ReadonlyMap<string, string> = new Map();
  #pinned: readonly OwnUnit[] = [];
  #takesNone = false;

  constructor(input: UnitDecisionsInput) {
    this.#input = input;
  }

  /** Names of the units that nobody may work on, and why. */
  get blocked(): ReadonlyMap<string, string> {
    return this.#blocked;
  }

  /** Units that are pinned to this host, and that nothing keeps from being worked on as far as it was looked last. */
  get pinned(): readonly OwnUnit[] {
    return this.#pinned;
  }

  /** Has no unit be taken any more. */
  takeNone(): void {
    this.#takesNone = true;
  }

  /** Finds the units that nobody may work on. Gives whether these, or those that are pinned to this host, are others than before. */
  findBlocked(view: ClusterView): boolean {
    const { declared, neighbours, log } = this.#input;
    const { alive } = neighbours;
    const [blockedBefore, pinnedBefore] = [JSON.stringify([...this.#blocked]), this.#pinned];
    const found = declared.all.flatMap((own) => {
      const reason = overlapOf(own, view, alive);
      return reason === null ? [] : [[own.name, reason] as const];
    });
    this.#blocked = new Map(found);
    this.#pinned = declared.all.filter(({ isPinned, name }) => isPinned && !this.#blocked.has(name));
    const isOther = JSON.stringify(found) !== blockedBefore;
    if (isOther) for (const [name, reason] of found) log.error(`${name} is halted: ${reason}`);
    return isOther || !areSameUnits(this.#pinned, pinnedBefore);
  }

  /** What this host does about a unit that is not pinned, as it was seen last. */
  about(own: OwnUnit, row: UnitRow): 'take' | 'release' | 'leave' {
    if (this.#input.held.get(own.id) === undefined)
      return this.#couldTake(own) && this.#isToTake(own, row) ? 'take' : 'leave';
    return this.#blocked.has(own.name) || this.#isToMove(own) ? 'release' : 'leave';
  }

  /** Units that no configuration has any more, and whose records are those of a unit of this host's. */
  former(own: readonly OwnUnit[], view: ClusterView): readonly UnitRow[] {
    return formerUnits(own, view, this.#input.neighbours.alive);
  }

  /** Whether a unit that no configuration has any more is held in name only. */
  isAbandoned(row: UnitRow): boolean {
    const { cluster, name, neighbours, held } = this.#input;
    if (row.holder === null || held.get(row.id) !== undefined) return false;
    return name.wasHere(row.holder) || neighbours.stillMs(row) >= cluster.config.leaseMs;
  }

  #couldTake(own: OwnUnit): boolean {
    const { cluster, declared, held, visit, stop } = this.#input;
    const { weight } = cluster.config;
    if (stop.aborted || this.#takesNone || visit?.mayTake(own) === false) return false;
    // Whoever has only pinned sources may tell people for all.
    if (weight <= 0 && !isOfNotifications(own)) return false;
    return !this.#blocked.has(own.name) && declared.seen.includes(own.id) && !held.avoids(own.id);
  }

  #isToTake(own: OwnUnit, row: UnitRow): boolean {
    const { cluster, held, neighbours, visit } = this.#input;
    const { leaseMs } = cluster.config;
    const holder = this.#holderOf(row);
    const isBest =
      visit !== undefined || held.isRewound(row) || (holder !== 'forgotten' && neighbours.isOurs(own));
    const stillMs = neighbours.stillMs(row);
    return isToTake({ holder, stillMs, leaseMs, isBest, courtesyMs: BEATS_OF_COURTESY * beatMs(leaseMs) });
  }

  #holderOf(row: UnitRow): TakeFacts['holder'] {
    const { name, neighbours } = this.#input;
    if (neighbours.hasForgotten(row)) return 'forgotten';
    // A database that went back in time may have forgotten its holder.
    if (row.holder === null) return neighbours.isDatabaseNew ? 'another-host' : 'nobody';
    // This process alone has the state file of this host: whoever held it here has ended.
    return name.wasHere(row.holder) ? 'this-host' : 'another-host';
  }

  #isToMove(own: OwnUnit): boolean {
    const { neighbours, visit, isQuiet } = this.#input;
    if (visit !== undefined) return false;
    return isToMove({
      unchangedMs: neighbours.unchangedMs,
      isBest: neighbours.isOurs(own),
      canOthersTake: neighbours.canOthersTake(own),
      isQuiet: isQuiet(own),
    });
  }
}

function areSameUnits(some: readonly OwnUnit[], others: readonly OwnUnit[]): boolean {
  return some.length === others.length && some.every((one) => others.some((other) => isSameUnit(one, other)));
}
