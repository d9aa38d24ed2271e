import type { ClusterView, HostRow, UnitRow } from '../../cluster/membership.ts';
import type { UnitEnd } from './held-unit.ts';
import type { OwnUnit } from './own-units.ts';

/** What became of a unit that a host had its eyes on. */
export type Visited =
  | { readonly kind: 'ended'; readonly end: UnitEnd }
  | { readonly kind: 'elsewhere'; readonly host: string }
  /** Its directories are not seen here as they ought to be, but on that host. */
  | { readonly kind: 'unseen'; readonly host: string }
  /** Nobody may have it. */
  | { readonly kind: 'blocked' };

/** What a host knows of the units that it came for. */
export interface VisitedCluster extends Pick<ClusterView, 'hosts'> {
  readonly own: readonly OwnUnit[];
  readonly rows: readonly UnitRow[];
  /** See `UnitDecisions.leftTo`. */
  readonly leftTo: (own: OwnUnit) => string | null;
  readonly blocked: ReadonlyMap<string, string>;
}

/** A short stay in a cluster: each unit that is to be had is taken once, and let go of. */
export class Visit {
  readonly #firstMarks = new Map<number, string>();
  readonly #firstBeats = new Map<string, number>();
  readonly #ended = new Map<number, UnitEnd>();
  #heard: (() => void)[] = [];

  /** Takes note of how units and hosts were when they were seen first. */
  note({ units, hosts }: Pick<ClusterView, 'units' | 'hosts'>): void {
    for (const row of units) if (!this.#firstMarks.has(row.id)) this.#firstMarks.set(row.id, markOf(row));
    for (const { name, beat } of hosts) if (!this.#firstBeats.has(name)) this.#firstBeats.set(name, beat);
    const heard = this.#heard;
    this.#heard = [];
    for (const resolve of heard) resolve();
  }

  /** Resolves with the next beat that arrives, or once the signal aborts. */
  nextBeat(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => {
        resolve();
      });
      this.#heard.push(resolve);
    });
  }

  /** The work on a unit ended. */
  ended(id: number, end: UnitEnd): void {
    this.#ended.set(id, end);
  }

  /** Whether a unit was not worked on yet. */
  mayTake(own: Pick<OwnUnit, 'id'>): boolean {
    return !this.#ended.has(own.id);
  }

  /** Whether there is nothing left to wait for. */
  isOver(cluster: VisitedCluster): boolean {
    return [...this.outcome(cluster).values()].every((one) => one !== null);
  }

  /** What became of each unit that others may have; `null`: it is not known yet. */
  outcome(cluster: VisitedCluster): ReadonlyMap<string, Visited | null> {
    return new Map(cluster.own.map((own) => [own.name, this.#visited(own, cluster)]));
  }

  #visited(own: OwnUnit, { rows, hosts, leftTo, blocked }: VisitedCluster): Visited | null {
    const end = this.#ended.get(own.id);
    if (end !== undefined) return { kind: 'ended', end };
    if (blocked.has(own.name)) return { kind: 'blocked' };
    const row = rows.find(({ id }) => id === own.id);
    // Somebody has proven it since this host came: a host that died holds it only in name.
    if (row !== undefined && row.holder !== null && markOf(row) !== this.#firstMarks.get(own.id))
      return { kind: 'elsewhere', host: row.holderHost ?? 'another host' };
    const host = leftTo(own);
    return host !== null && this.#isHeard(host, hosts) ? { kind: 'unseen', host } : null;
  }

  /** Whether a host has beaten since this one came: one that died is listed as well. */
  #isHeard(host: string, hosts: readonly HostRow[]): boolean {
    return hosts.some(({ name, beat }) => name === host && beat !== this.#firstBeats.get(name));
  }
}

function markOf({ epoch, beat }: UnitRow): string {
  return `${epoch} ${beat}`;
}
