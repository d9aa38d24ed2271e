import type { FileKey } from '../domain/brands.ts';
import type { StoredFile } from './state-reader.ts';

/** Reads the records after a key, in key order, at most a page of them; none: there are no more. */
export type ReadKeyPage = (after: string) => readonly StoredFile[];

/**
 * Records in key order, read page by page: the order of their bytes in UTF-8 (`Buffer.compare`), which merges with a
 * list of the platform's files that is sorted alike. Rows may change meanwhile: a key is met at most once, and every key
 * that is there all the time is met, with what its row held when its page was read.
 */
export class KeyCursor {
  readonly #readPage: ReadKeyPage;
  #page: readonly StoredFile[] = [];
  #next = 0;
  #last: FileKey | '' = '';
  #current: StoredFile | null = null;

  constructor(readPage: ReadKeyPage) {
    this.#readPage = readPage;
    this.advance();
  }

  /** The record the cursor stands on; `null` after the last. */
  get current(): StoredFile | null {
    return this.#current;
  }

  /** Moves to the next record; after the last, to what has come since. Throws `StateFileError` when the file is damaged. */
  advance(): void {
    if (this.#next === this.#page.length) {
      this.#page = this.#readPage(this.#last);
      this.#next = 0;
    }
    const record = this.#page[this.#next] ?? null;
    if (record !== null) {
      this.#next += 1;
      this.#last = record.key;
    }
    this.#current = record;
  }
}
