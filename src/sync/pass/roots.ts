import { isStillThere } from '../sources/directory-identity.ts';
import type { Source } from '../sources/source.ts';

/** Checks whether the directories of sources are still there, once per turn of the event loop for all files. */
export class Roots {
  readonly #checks = new Map<Source, Promise<boolean>>();
  readonly #thisTurn = new Map<Source, boolean>();

  /** Checks at the end of this turn; then everything planned during the turn came from this directory. */
  isThere(source: Source): Promise<boolean> {
    let check = this.#checks.get(source);
    if (check === undefined) {
      check = new Promise((resolve) => {
        setImmediate(() => {
          this.#checks.delete(source);
          resolve(isStillThere(source));
        });
      });
      this.#checks.set(source, check);
    }
    return check;
  }

  /** Checks in this turn; everything opened during the turn comes from this directory. */
  isThereNow(source: Source): boolean {
    if (this.#thisTurn.size === 0)
      setImmediate(() => {
        this.#thisTurn.clear();
      });
    let isThere = this.#thisTurn.get(source);
    if (isThere === undefined) this.#thisTurn.set(source, (isThere = isStillThere(source)));
    return isThere;
  }
}
