/** What a cursor goes through. */
export interface Pages<Place, Row, Item> {
  /** Comes before all. */
  readonly start: Place;
  /** Reads the rows after a place in their order, at most a page of them; none: there are no more. */
  readonly read: (after: Place) => readonly Row[];
  readonly placeOf: (row: Row) => Place;
  /** Throws `StateFileError` when the row makes no sense. */
  readonly itemOf: (row: Row) => Item;
}

/**
 * Rows in their order, read page by page. They may change in the meantime: a place is met at most once, and every one that is
 * there all the time is met, with what its row held when its page was read.
 */
export class PageCursor<Place, Row, Item> {
  readonly #pages: Pages<Place, Row, Item>;
  #rows: readonly Row[] = [];
  #next = 0;
  #last: Place;
  #current: Item | null = null;

  constructor(pages: Pages<Place, Row, Item>) {
    this.#pages = pages;
    this.#last = pages.start;
    this.advance();
  }

  /** What the cursor stands on; `null` after the last. */
  get current(): Item | null {
    return this.#current;
  }

  /** Moves on; after the last, to what has come since. Throws `StateFileError` when the file is damaged. */
  advance(): void {
    if (this.#next === this.#rows.length) {
      this.#rows = this.#pages.read(this.#last);
      this.#next = 0;
    }
    const row = this.#rows[this.#next];
    if (row === undefined) {
      this.#current = null;
      return;
    }
    this.#next += 1;
    this.#last = this.#pages.placeOf(row);
    this.#current = this.#pages.itemOf(row);
  }

  /** Moves to the first after a place, read again. */
  protected seek(place: Place): void {
    this.#rows = [];
    this.#next = 0;
    this.#last = place;
    this.advance();
  }
}
