export interface UnitSource {
  readonly name: string;
  readonly keyPrefix: string;
  /** Sources of different targets never share keys. */
  readonly targetName: string;
}

/** Sources that one host at a time works on, since several of them may produce the same key. In the order of the input. */
export interface Unit<S extends UnitSource = UnitSource> {
  readonly name: string;
  readonly sources: readonly S[];
}

export function mayShareKey(
  a: Pick<UnitSource, 'keyPrefix' | 'targetName'>,
  b: Pick<UnitSource, 'keyPrefix' | 'targetName'>,
): boolean {
  return a.targetName === b.targetName && prefixesMeet(a.keyPrefix, b.keyPrefix);
}

/** Returns whether files under two key prefixes may have the same key. */
export function prefixesMeet(one: string, other: string): boolean {
  const [a, b] = [one.normalize('NFC'), other.normalize('NFC')];
  return a.startsWith(b) || b.startsWith(a);
}

/** Groups items that may meet, directly or through others, each group in the order of the input. */
export function groupMeeting<T>(items: readonly T[], mayMeet: (a: T, b: T) => boolean): T[][] {
  let groups: T[][] = [];
  for (const one of items) {
    const meets = (group: readonly T[]): boolean => group.some((other) => mayMeet(one, other));
    groups = [...groups.filter((group) => !meets(group)), [...groups.filter(meets).flat(), one]];
  }
  return groups.map((group) => group.sort((a, b) => items.indexOf(a) - items.indexOf(b)));
}

export function unitsOf<S extends UnitSource>(sources: readonly S[]): Unit<S>[] {
  return groupMeeting(sources, mayShareKey).map((group) => ({
    name: group
      .map(({ name }) => partOfName(name))
      .sort()
      .join('+'),
    sources: group,
  }));
}

/** Escapes the characters that join names in the names of units. */
function partOfName(source: string): string {
  return source.replace(/[%+@]/gu, encodeURIComponent);
}

/** The facts that decide whether a host takes a unit that it could work on and does not hold. */
export interface TakeFacts {
  /** The last known holder; `this-host`: a process of this host that has ended. */
  readonly holder: 'nobody' | 'this-host' | 'another-host';
  /** For how long nobody has proven the unit's lease, milliseconds. */
  readonly stillMs: number;
  readonly leaseMs: number;
  /** This host was chosen among all that could take the unit. */
  readonly isAssigned: boolean;
  /** For how long a unit is left to the other host that was chosen for it, milliseconds. */
  readonly courtesyMs: number;
}

export function isToTake({ holder, stillMs, leaseMs, isAssigned, courtesyMs }: TakeFacts): boolean {
  switch (holder) {
    case 'this-host':
      return true;
    case 'nobody':
      return isAssigned || stillMs >= courtesyMs;
    case 'another-host':
      return stillMs >= leaseMs && (isAssigned || stillMs - leaseMs >= courtesyMs);
  }
}

/**
 * Why no host could take a unit:
 * - `no-host`: none is running.
 * - `no-taker`: none that is running has its sources and would take them.
 */
export type WhyUntaken = 'no-host' | 'no-taker';

/** Returns why none of the running hosts could take a unit (by number); `null`: at least one could. */
export function whyUntaken(
  unit: number,
  hosts: readonly { readonly units: readonly number[] }[],
): WhyUntaken | null {
  if (hosts.length === 0) return 'no-host';
  return hosts.some(({ units }) => units.includes(unit)) ? null : 'no-taker';
}

export interface Assignable {
  readonly id: number;
  /** `null`: it is free. */
  readonly holder: string | null;
  /** Names of the hosts that could work on it. */
  readonly candidates: readonly string[];
}

/**
 * Gives each free unit to the candidate with the fewest units; of several, to the first by name. All hosts with the same data get
 * the same result. Units with few candidates come first, so that the others can balance them.
 */
export function assignFree(units: readonly Assignable[]): ReadonlyMap<number, string> {
  const counts = countHeld(units);
  const free = units.filter(({ holder, candidates }) => holder === null && candidates.length > 0);
  const inOrder = [...free].sort((a, b) => a.candidates.length - b.candidates.length || a.id - b.id);
  const assigned = new Map<number, string>();
  for (const { id, candidates } of inOrder) {
    const [first = ''] = [...candidates].sort(
      (a, b) => countOf(counts, a) - countOf(counts, b) || order(a, b),
    );
    assigned.set(id, first);
    counts.set(first, countOf(counts, first) + 1);
  }
  return assigned;
}

/**
 * Returns the numbers of the units that a host must get from others, so that all have equally many as far as possible. The
 * numbers of different hosts do not overlap.
 */
export function fairShareOf(host: string, units: readonly Assignable[]): number[] {
  const held = units.filter(({ holder }) => holder !== null);
  const counts = countHeld(held);
  const holders = new Map(held.map(({ id, holder }) => [id, holder ?? '']));
  for (;;) {
    const move = largestMove(held, holders, counts);
    if (move === null) break;
    counts.set(move.from, countOf(counts, move.from) - 1);
    counts.set(move.to, countOf(counts, move.to) + 1);
    holders.set(move.id, move.to);
  }
  return held.flatMap(({ id, holder }) => (holder !== host && holders.get(id) === host ? [id] : []));
}
interface Move {
  readonly id: number;
  readonly from: string;
  readonly to: string;
}

/** Returns the move that balances most; `null`: every move would only reverse the difference. */
function largestMove(
  units: readonly Assignable[],
  holders: ReadonlyMap<number, string>,
  counts: ReadonlyMap<string, number>,
): Move | null {
  let best: (Move & { readonly gain: number }) | null = null;
  for (const { id, candidates } of units) {
    const from = holders.get(id) ?? '';
    for (const to of [...candidates].sort(order)) {
      const gain = countOf(counts, from) - countOf(counts, to);
      if (gain >= 2 && gain > (best?.gain ?? 0)) best = { id, from, to, gain };
    }
  }
  return best;
}
function countHeld(units: readonly Assignable[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { holder } of units) if (holder !== null) counts.set(holder, countOf(counts, holder) + 1);
  return counts;
}
function countOf(counts: ReadonlyMap<string, number>, host: string): number {
  return counts.get(host) ?? 0;
}
function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Measures how long the reports of others have not changed, by our own clock: their clocks may be wrong. */
export class Standstill<K> {
  readonly #seen = new Map<K, { mark: string; sinceMs: number }>();

  /** Records the latest report, at a moment of the monotonic clock, milliseconds. */
  note(key: K, mark: string, atMs: number): void {
    const seen = this.#seen.get(key);
    if (seen?.mark !== mark) this.#seen.set(key, { mark, sinceMs: atMs });
  }

  forget(): void {
    this.#seen.clear();
  }

  /** Returns for how long a report has not changed, milliseconds; 0 if there is none. */
  forMs(key: K, nowMs: number): number {
    const seen = this.#seen.get(key);
    return seen === undefined ? 0 : nowMs - seen.sinceMs;
  }
}
