import { isStillThere } from '../sources/directory-identity.ts';
import type { Source } from '../sources/source.ts';

/** Looks whether the directories of sources are still there, for all files that are planned in one turn at once. */
export class Roots {
  readonly #looks = new Map<Source, Promise<boolean>>();

  /** Whether the directory of a source is there after this turn of the event loop: what was planned in it came from there. */
  isThere(source: Source): Promise<boolean> {
    let look = this.#looks.get(source);
    if (look === undefined) {
      look = new Promise((resolve) => {
        setImmediate(() => {
          this.#looks.delete(source);
          resolve(isStillThere(source));
        });
      });
      this.#looks.set(source, look);
    }
    return look;
  }
}
