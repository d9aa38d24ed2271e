import type { ClusterView, HostRow, UnitRow } from '../../cluster/shared-ledger.ts';
import type { UnitEnd } from './held-unit.ts';
import type { OwnUnit } from './own-units.ts';

export type Visited =
  | { readonly kind: 'ended'; readonly end: UnitEnd }
  | { readonly kind: 'elsewhere'; readonly host: string }
  /** This host does not see its directories as recorded, but `host` does. */
  | { readonly kind: 'unseen'; readonly host: string }
  /** No host may work on the unit. */
  | { readonly kind: 'blocked' };

export interface VisitedCluster extends Pick<ClusterView, 'hosts'> {
  readonly own: readonly OwnUnit[];
  readonly rows: readonly UnitRow[];
  /** See `UnitDecisions.leftTo`. */
  readonly leftTo: (own: OwnUnit) => string | null;
  readonly blocked: ReadonlyMap<string, string>;
}

/** A short stay in a cluster: takes each available unit once. */
export class Visit {
  readonly #firstMarks = new Map<number, string>();
  readonly #firstBeats = new Map<string, number>();
  readonly #ended = new Map<number, UnitEnd>();
  #heard: (() => void)[] = [];

  /** Records the first seen state of units and hosts. */
  note({ units, hosts }: Pick<ClusterView, 'units' | 'hosts'>): void {
    for (const row of units) if (!this.#firstMarks.has(row.id)) this.#firstMarks.set(row.id, markOf(row));
    for (const { name, beat } of hosts) if (!this.#firstBeats.has(name)) this.#firstBeats.set(name, beat);
    const heard = this.#heard;
    this.#heard = [];
    for (const resolve of heard) resolve();
  }

  /** Resolves with the answer to the next beat, or when the signal aborts. */
  nextBeat(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => {
        resolve();
      });
      this.#heard.push(resolve);
    });
  }

  /** Records how the work on a unit ended. */
  ended(id: number, end: UnitEnd): void {
    this.#ended.set(id, end);
  }

  /** Returns whether the unit has not been worked on yet. */
  mayTake(own: Pick<OwnUnit, 'id'>): boolean {
    return !this.#ended.has(own.id);
  }

  /** Returns whether the outcome of every unit is known. */
  isOver(cluster: VisitedCluster): boolean {
    return [...this.outcome(cluster).values()].every((one) => one !== null);
  }

  /** Returns what became of each unit; `null`: not known yet. */
  outcome(cluster: VisitedCluster): ReadonlyMap<string, Visited | null> {
    return new Map(cluster.own.map((own) => [own.name, this.#visited(own, cluster)]));
  }

  #visited(own: OwnUnit, { rows, hosts, leftTo, blocked }: VisitedCluster): Visited | null {
    const end = this.#ended.get(own.id);
    if (end !== undefined) return { kind: 'ended', end };
    if (blocked.has(own.name)) return { kind: 'blocked' };
    const row = rows.find(({ id }) => id === own.id);
    // The lease was proven since this host came: a dead host is also listed as holder.
    if (row !== undefined && row.holder !== null && markOf(row) !== this.#firstMarks.get(own.id))
      return { kind: 'elsewhere', host: row.holderHost ?? 'another host' };
    const host = leftTo(own);
    return host !== null && this.#isHeard(host, hosts) ? { kind: 'unseen', host } : null;
  }

  /** Returns whether a host has sent a beat since this one came: dead hosts are listed too. */
  #isHeard(host: string, hosts: readonly HostRow[]): boolean {
    return hosts.some(({ name, beat }) => name === host && beat !== this.#firstBeats.get(name));
  }
}

function markOf({ epoch, beat }: UnitRow): string {
  return `${epoch} ${beat}`;
}
