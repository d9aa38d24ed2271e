import type { Clock } from '../domain/clock.ts';

/** More paths than this are no longer remembered one by one: looking at everything is cheaper, and memory stays bounded. */
export const MOST_PENDING = 10_000;

/** So many paths are looked at in one go: the event loop is not held up for longer than a few milliseconds. */
const LOOKS_AT_ONCE = 1000;

/** Batches follow each other no sooner. The first path after a pause does not wait for it. */
const BATCH_SPACING_MS = 10;

/** What settling needs from outside. */
export interface SettlingOptions {
  readonly settleMs: number;
  readonly maxDelayMs: number;
  readonly clock: Clock;
  /** Ends all waiting; nothing is told afterwards. */
  readonly signal: AbortSignal;
  /** A path's size, mtime, ctime and inode as a text to compare, or that it is absent. Never throws. */
  readonly factsOf: (path: string) => string;
  /** These paths stood still for `settleMs`, or waited for `maxDelayMs`. None is below another. */
  readonly settled: (paths: readonly string[]) => void;
  /** A burst begins: all paths are forgotten. */
  readonly bursting: () => void;
  /** A burst is over, or went on for `maxDelayMs`. Paths are remembered again from now on. */
  readonly calm: (reason: string) => void;
}

interface Pending {
  readonly firstMs: number;
  /** When the facts were taken; they were never seen to differ since. */
  stillSinceMs: number;
  facts: string;
}

interface Burst {
  readonly reason: string;
  readonly beganMs: number;
  lastMs: number;
}

/**
 * Holds paths back until they stand still.
 *
 * Both maps hold the same entries. A map keeps the order of insertion, and a path that moves is inserted anew, so one
 * map is sorted by how long its paths stand still, the other by how long they wait, and nothing is ever sorted.
 */
export class Settling {
  readonly #options: SettlingOptions;
  readonly #byStillness = new Map<string, Pending>();
  readonly #byAge = new Map<string, Pending>();
  #burst: Burst | null = null;
  #running = false;
  #lastBatchMs = -Infinity;

  constructor(options: SettlingOptions) {
    this.#options = options;
  }

  /** Paths that wait. */
  get pending(): number {
    return this.#byAge.size;
  }

  /** Whether a burst goes on: single paths are not remembered. */
  get isBursting(): boolean {
    return this.#burst !== null;
  }

  /** Something happened to a path. */
  touch(path: string): void {
    const nowMs = this.#options.clock.monotonic();
    if (this.#burst !== null) {
      this.#burst.lastMs = nowMs;
      return;
    }
    // What happens below a pending directory keeps the directory waiting: it will be looked at as a whole, and then its
    // files should be complete.
    const held = this.#pendingAbove(path) ?? path;
    const firstMs = this.#byAge.get(held)?.firstMs;
    if (firstMs === undefined && this.#byAge.size >= MOST_PENDING) {
      this.burst(`more than ${MOST_PENDING} files changed within a short time`);
      return;
    }
    const entry = { firstMs: firstMs ?? nowMs, stillSinceMs: nowMs, facts: this.#options.factsOf(held) };
    this.#byAge.set(held, entry);
    this.#byStillness.delete(held);
    this.#byStillness.set(held, entry);
    this.#wake();
  }

  /** Events came too fast to be trusted: forgets all paths, and waits for calm. */
  burst(reason: string): void {
    const nowMs = this.#options.clock.monotonic();
    this.#byStillness.clear();
    this.#byAge.clear();
    if (this.#burst === null) {
      this.#burst = { reason, beganMs: nowMs, lastMs: nowMs };
      this.#options.bursting();
    } else this.#burst.lastMs = nowMs;
    this.#wake();
  }

  #pendingAbove(path: string): string | null {
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
      const above = path.slice(0, slash);
      if (this.#byAge.has(above)) return above;
    }
    return null;
  }

  #wake(): void {
    if (!this.#running) void this.#run();
  }

  /**
   * Runs while anything waits. What is added meanwhile is due no sooner than what is there, so a sleep never has to be
   * cut short. An error of a listener ends it and surfaces as an unhandled rejection.
   */
  async #run(): Promise<void> {
    const { clock, signal } = this.#options;
    this.#running = true;
    try {
      for (let dueMs = this.#dueMs(); dueMs !== null; dueMs = this.#dueMs()) {
        // Also with nothing to wait for: nobody is told anything from within `touch`.
        await clock.sleep(dueMs - clock.monotonic(), signal);
        if (signal.aborted) return;
        const nowMs = clock.monotonic();
        const againMs = this.#dueMs();
        if (againMs !== null && againMs <= nowMs) this.#handOver(nowMs);
      }
    } finally {
      this.#running = false;
    }
  }

  #dueMs(): number | null {
    const { settleMs, maxDelayMs } = this.#options;
    if (this.#burst !== null)
      return Math.min(this.#burst.lastMs + settleMs, this.#burst.beganMs + maxDelayMs);
    const [stillest] = this.#byStillness.values();
    const [oldest] = this.#byAge.values();
    if (stillest === undefined || oldest === undefined) return null;
    const dueMs = Math.min(stillest.stillSinceMs + settleMs, oldest.firstMs + maxDelayMs);
    return Math.max(dueMs, this.#lastBatchMs + BATCH_SPACING_MS);
  }

  #handOver(nowMs: number): void {
    if (this.#burst !== null) {
      const { reason } = this.#burst;
      this.#burst = null;
      this.#options.calm(reason);
      return;
    }
    this.#lastBatchMs = nowMs;
    const ready = new Set([...this.#takeOldest(nowMs), ...this.#takeStill(nowMs)]);
    const paths = [...ready].filter((path) => !hasAncestorIn(ready, path));
    if (paths.length > 0) this.#options.settled(paths);
  }

  #takeOldest(nowMs: number): string[] {
    const taken: string[] = [];
    for (const [path, { firstMs }] of this.#byAge) {
      if (firstMs + this.#options.maxDelayMs > nowMs || taken.length === LOOKS_AT_ONCE) break;
      this.#forget(path);
      taken.push(path);
    }
    return taken;
  }

  #takeStill(nowMs: number): string[] {
    const { settleMs, factsOf } = this.#options;
    const due: [string, Pending][] = [];
    for (const [path, entry] of this.#byStillness) {
      if (entry.stillSinceMs + settleMs > nowMs || due.length === LOOKS_AT_ONCE) break;
      due.push([path, entry]);
    }
    const taken: string[] = [];
    for (const [path, entry] of due) {
      const facts = factsOf(path);
      this.#byStillness.delete(path);
      if (facts === entry.facts) {
        this.#byAge.delete(path);
        taken.push(path);
      } else {
        // Written without an event, as through a mapping: it has to stand still once more.
        entry.facts = facts;
        entry.stillSinceMs = nowMs;
        this.#byStillness.set(path, entry);
      }
    }
    return taken;
  }

  #forget(path: string): void {
    this.#byAge.delete(path);
    this.#byStillness.delete(path);
  }
}

function hasAncestorIn(paths: ReadonlySet<string>, path: string): boolean {
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    if (paths.has(path.slice(0, slash))) return true;
  }
  return false;
}
