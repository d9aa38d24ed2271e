export interface BagItem {
  /** Its index in the bag. */
  bagIndex: number;
}

/**
 * An unordered collection for items that come and go thousands of times a second.
 *
 * A `Set` allocates a new table every few dozen items. Once the set is old, V8 allocates each table among the old objects, and
 * everything that an abandoned table refers to stays in memory until the old objects are collected
 * (docs/decisions/0026-garbage-is-collected-sooner.md).
 */
export class Bag<T extends BagItem> implements Iterable<T> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** Does nothing when the item is in this bag already. The item must not be in another bag. */
  add(item: T): void {
    if (this.#items[item.bagIndex] === item) return;
    item.bagIndex = this.#items.push(item) - 1;
  }

  /** Does nothing when the item is not in this bag. */
  delete(item: T): void {
    if (this.#items[item.bagIndex] !== item) return;
    const last = this.#items.pop() as T;
    if (last === item) return;
    this.#items[item.bagIndex] = last;
    last.bagIndex = item.bagIndex;
  }

  /** The bag must not change during the iteration. */
  [Symbol.iterator](): Iterator<T> {
    return this.#items[Symbol.iterator]();
  }
}

/** Values with the number of times that each was added. */
export class Multiset {
  readonly #counts = new Map<string, number>();

  has(value: string): boolean {
    return this.#counts.has(value);
  }

  add(value: string): void {
    this.#counts.set(value, (this.#counts.get(value) ?? 0) + 1);
  }

  delete(value: string): void {
    const others = (this.#counts.get(value) ?? 1) - 1;
    if (others === 0) this.#counts.delete(value);
    else this.#counts.set(value, others);
  }
}
