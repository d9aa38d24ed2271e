import { isStillThere } from '../sources/directory-identity.ts';
import type { Source } from '../sources/source.ts';

/** Checks whether the directories of sources are still there: once in a turn of the event loop for all of its files. */
export class Roots {
  readonly #checks = new Map<Source, Promise<boolean>>();
  readonly #thisTurn = new Map<Source, boolean>();

  /** Whether the directory of a source is there after this turn: what was planned in it came from there. */
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

  /** Whether the directory of a source is there in this turn: what is opened in it now comes from there. */
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
