/** A path of a source that is to be looked at again. */
export interface QueuedLook {
  readonly source: string;
  readonly path: string;
}

/** More is not remembered one by one: a pass over everything is cheaper then. */
const MOST_QUEUED = 10_000;

/** Paths to look at again, each once; the sources take turns. */
export class LookQueue {
  readonly #paths = new Map<string, Set<string>>();
  #size = 0;

  /** Paths that wait. */
  get size(): number {
    return this.#size;
  }

  /** Adds a path; `false` when there are too many, and none is remembered any more. */
  add(source: string, path: string): boolean {
    let own = this.#paths.get(source);
    if (own === undefined) this.#paths.set(source, (own = new Set()));
    if (own.has(path)) return true;
    own.add(path);
    if (++this.#size <= MOST_QUEUED) return true;
    this.clear();
    return false;
  }

  /** Takes the next path, of the source whose turn it is; `null` when none waits. */
  take(): QueuedLook | null {
    for (const [source, paths] of this.#paths) {
      this.#paths.delete(source);
      for (const path of paths) {
        paths.delete(path);
        this.#size -= 1;
        if (paths.size > 0) this.#paths.set(source, paths);
        return { source, path };
      }
    }
    return null;
  }

  /** Forgets all. */
  clear(): void {
    this.#paths.clear();
    this.#size = 0;
  }
}
