/** Rows are read this many at a time: one long read would keep SQLite from clearing its write-ahead log. */
export const PAGE_ROWS = 1000;

/**
 * Items in their order, read page by page. They may change in the meantime: each place is visited at most once, and every item
 * that exists all the time is visited, as it was when its page was read.
 */
export class PageCursor<Item extends Place, Place = Item> {
  readonly #read: (after: Place | null) => readonly Item[];
  #items: readonly Item[] = [];
  #next = 0;
  #last: Place | null = null;
  #current: Item | null = null;

  /** @param read - returns the first items after a place (`null`: from the beginning), at most a page; none: there are no more. */
  constructor(read: (after: Place | null) => readonly Item[]) {
    this.#read = read;
    this.advance();
  }

  /** The item at the cursor; `null` after the last. */
  get current(): Item | null {
    return this.#current;
  }

  /** Moves on; after the last, to items that were added since. Throws `StateFileError` when the file is damaged. */
  advance(): void {
    if (this.#next === this.#items.length) {
      this.#items = this.#read(this.#last);
      this.#next = 0;
    }
    this.#current = this.#items[this.#next] ?? null;
    if (this.#current === null) return;
    this.#next += 1;
    this.#last = this.#current;
  }

  /** Moves to the first item after a place, read again: for when rows were moved in the meantime. */
  seekAfter(place: Place): void {
    this.#items = [];
    this.#next = 0;
    this.#last = place;
    this.advance();
  }
}
