import { isStillThere } from '../sources/directory-identity.ts';
import type { Source } from '../sources/source.ts';

/** Looks whether the directories of sources are still there: once a turn of the event loop, whoever asks. */
export class Roots {
  readonly #seen = new Map<Source, boolean>();

  /** Whether the directory of a source was there in this turn. */
  isThere(source: Source): boolean {
    let isThere = this.#seen.get(source);
    if (isThere === undefined) {
      if (this.#seen.size === 0)
        setImmediate(() => {
          this.#seen.clear();
        });
      isThere = isStillThere(source);
      this.#seen.set(source, isThere);
    }
    return isThere;
  }
}
