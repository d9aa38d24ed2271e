/** Something that lies in at most one bag. */
export interface BagItem {
  /** Where it lies; the bag's own affair. */
  bagIndex: number;
}

/**
 * An unordered collection for things that come and go thousands of times a second.
 *
 * A `Set` makes itself a new table every few dozen of them. Once it is old, V8 makes each table among the old objects,
 * and whatever lay in one that was given up stays in memory, with all it refers to, until the old ones are collected
 * (docs/decisions/0026-garbage-is-collected-sooner.md).
 */
export class Bag<T extends BagItem> implements Iterable<T> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** Puts something in that is in no other bag; nothing happens when it is in already. */
  add(item: T): void {
    if (this.#items[item.bagIndex] === item) return;
    item.bagIndex = this.#items.push(item) - 1;
  }

  /** Takes something out; nothing happens when it is not in. */
  delete(item: T): void {
    if (this.#items[item.bagIndex] !== item) return;
    const last = this.#items.pop() as T;
    if (last === item) return;
    this.#items[item.bagIndex] = last;
    last.bagIndex = item.bagIndex;
  }

  /** What is in it; nothing may be put in or taken out in the meantime. */
  [Symbol.iterator](): Iterator<T> {
    return this.#items[Symbol.iterator]();
  }
}

/** Values, each as often as it was added. */
export class Multiset {
  readonly #counts = new Map<string, number>();

  has(value: string): boolean {
    return this.#counts.has(value);
  }

  add(value: string): void {
    this.#counts.set(value, (this.#counts.get(value) ?? 0) + 1);
  }

  /** Takes a value out once. */
  delete(value: string): void {
    const others = (this.#counts.get(value) ?? 1) - 1;
    if (others === 0) this.#counts.delete(value);
    else this.#counts.set(value, others);
  }
}
