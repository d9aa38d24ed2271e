/** A path of a source that is to be rescanned. */
export interface QueuedRescan {
  readonly source: string;
  readonly path: string;
  /** When it was first asked for, epoch milliseconds. */
  readonly askedAtMs: number;
}

/** More is not remembered one by one: a pass over everything is cheaper then. */
const MOST_QUEUED = 10_000;

/** Paths to rescan, each once; the sources take turns. */
export class RescanQueue {
  /** When each path was asked for, by source, oldest first. */
  readonly #paths = new Map<string, Map<string, number>>();
  /** When the oldest of those that are not remembered was asked for, by source. */
  readonly #forgotten = new Map<string, number>();
  #size = 0;

  /** Paths that wait. */
  get size(): number {
    return this.#size;
  }

  /** Adds a path; `false` when there are too many, and none is remembered any more. */
  add({ source, path, askedAtMs }: QueuedRescan): boolean {
    const own = this.#paths.get(source) ?? new Map<string, number>();
    this.#paths.set(source, own);
    if (own.has(path)) return true;
    own.set(path, askedAtMs);
    if (++this.#size <= MOST_QUEUED) return true;
    for (const name of this.#paths.keys()) this.#forgotten.set(name, this.oldest(name) ?? askedAtMs);
    this.#paths.clear();
    this.#size = 0;
    return false;
  }

  /** Takes the next path, of the source whose turn it is; `null` when none waits. */
  take(): QueuedRescan | null {
    for (const [source, paths] of this.#paths) {
      this.#paths.delete(source);
      for (const [path, askedAtMs] of paths) {
        paths.delete(path);
        this.#size -= 1;
        if (paths.size > 0) this.#paths.set(source, paths);
        return { source, path, askedAtMs };
      }
    }
    return null;
  }

  /**
   * When the path of a source that waits longest was asked for, epoch milliseconds; `null`: none waits. One that is not
   * remembered waits for a pass.
   */
  oldest(source: string): number | null {
    const forgotten = this.#forgotten.get(source);
    if (forgotten !== undefined) return forgotten;
    for (const askedAtMs of this.#paths.get(source)?.values() ?? []) return askedAtMs;
    return null;
  }

  /** A pass begins: what was not remembered waits no longer. */
  passBegins(): void {
    this.#forgotten.clear();
  }
}
