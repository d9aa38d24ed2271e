import type { UnitRow } from '../../cluster/membership.ts';
import { isOfNotifications } from '../../domain/unit.ts';
import type { UnitEnd } from './held-unit.ts';
import type { OwnUnit } from './own-units.ts';

/** What became of a unit that a host had its eyes on. */
export type Visited =
  | { readonly kind: 'ended'; readonly end: UnitEnd }
  | { readonly kind: 'elsewhere'; readonly host: string }
  /** Its directories cannot be seen here, nobody may have it, or this host takes none that others may have. */
  | { readonly kind: 'unseen' | 'blocked' | 'unwanted' };

/** What a host knows of the units that it came for. */
export interface Sight {
  readonly own: readonly OwnUnit[];
  readonly rows: readonly UnitRow[];
  /** Numbers of the units whose directories are there. */
  readonly seen: readonly number[];
  readonly blocked: ReadonlyMap<string, string>;
  readonly weight: number;
}

/** A short stay in a cluster: each unit that is to be had is taken once, and let go of. */
export class Visit {
  readonly #firstMarks = new Map<number, string>();
  readonly #ended = new Map<number, UnitEnd>();
  #also: Promise<unknown> = Promise.resolve();
  #heard: (() => void)[] = [];
  #isAlsoOver = true;

  /** Has it not end before something else is over, which must not reject. */
  waitFor(also: Promise<unknown>): void {
    this.#isAlsoOver = false;
    this.#also = also.then(() => {
      this.#isAlsoOver = true;
    });
  }

  /** Resolves when what else had to be over is. */
  get also(): Promise<unknown> {
    return this.#also;
  }

  /** Takes note of how units were when they were seen first. */
  note(rows: readonly UnitRow[]): void {
    for (const row of rows) if (!this.#firstMarks.has(row.id)) this.#firstMarks.set(row.id, markOf(row));
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

  /** Whether a unit was not worked on yet. Who comes for a pass tells people of it by itself. */
  mayTake(own: Pick<OwnUnit, 'id' | 'sources'>): boolean {
    return !this.#ended.has(own.id) && !isOfNotifications(own);
  }

  /** Whether there is nothing left to wait for. */
  isOver(sight: Sight): boolean {
    return this.#isAlsoOver && [...this.outcome(sight).values()].every((one) => one !== null);
  }

  /** What became of each unit that others may have; `null`: it is not known yet. */
  outcome(sight: Sight): ReadonlyMap<string, Visited | null> {
    const shared = sight.own.filter((own) => !own.isPinned && !isOfNotifications(own));
    return new Map(shared.map((own) => [own.name, this.#visited(own, sight)]));
  }

  #visited(own: OwnUnit, { rows, seen, blocked, weight }: Sight): Visited | null {
    const end = this.#ended.get(own.id);
    if (end !== undefined) return { kind: 'ended', end };
    if (blocked.has(own.name)) return { kind: 'blocked' };
    if (weight <= 0) return { kind: 'unwanted' };
    const row = rows.find(({ id }) => id === own.id);
    // Somebody has proven it since this host came: a host that died holds it only in name.
    if (row !== undefined && row.holder !== null && markOf(row) !== this.#firstMarks.get(own.id))
      return { kind: 'elsewhere', host: row.holderHost ?? 'another host' };
    return seen.includes(own.id) ? null : { kind: 'unseen' };
  }
}

function markOf({ epoch, beat }: UnitRow): string {
  return `${epoch} ${beat}`;
}
