import type { Clock } from '../domain/clock.ts';
import { looksTemporary } from '../domain/temporary-name.ts';

/** From this many paths on, a full scan is cheaper than checking each path. Also bounds the memory. */
export const MOST_PENDING = 10_000;

/** Paths that are checked in one turn, so that the event loop is not blocked for more than a few milliseconds. */
const LOOKS_AT_ONCE = 1000;

/** The time between two batches. The first path after a pause is not delayed. */
const BATCH_SPACING_MS = 10;

/** A path that looks temporary must be unchanged for this many times `settleMs`, but at least … */
const TEMPORARY_SETTLES = 4;

/** … this long: a program may pause before it renames what it wrote. */
const TEMPORARY_SETTLE_MS = 2000;

/** Returns how long a path that looks temporary (see `looksTemporary`) must be unchanged. */
export function temporarySettleMs(settleMs: number): number {
  return Math.max(TEMPORARY_SETTLES * settleMs, TEMPORARY_SETTLE_MS);
}

export interface SettlingOptions {
  readonly settleMs: number;
  readonly maxDelayMs: number;
  readonly clock: Clock;
  /** Ends all waiting; no callback is called afterwards. */
  readonly signal: AbortSignal;
  /** Returns size, mtime, ctime and inode of a path as a comparable text, or that the path is absent. Never throws. */
  readonly factsOf: (path: string) => string;
  /**
   * Called with paths that were unchanged for `settleMs` (longer if they look temporary), or waited for `maxDelayMs`.
   * No path is below another.
   */
  readonly settled: (paths: readonly string[]) => void;
  /** Called when a burst begins: all paths are forgotten. */
  readonly bursting: () => void;
  /** Called when a burst is over, or after `maxDelayMs`. Paths are recorded again from now on. */
  readonly calm: (reason: string) => void;
}

interface Pending {
  readonly firstMs: number;
  /** Since when the facts are unchanged. */
  stillSinceMs: number;
  facts: string;
}

interface Burst {
  readonly reason: string;
  readonly beganMs: number;
  lastMs: number;
}

/**
 * Holds paths back until they are unchanged.
 *
 * Two maps hold the same entries. A map keeps the order of insertion, and a changed path is inserted again, so that one
 * map is sorted by the time of the last change and the other by age, without any sorting. Paths that look temporary are
 * in a third map: they do not become due by age, because sending what will be renamed is useless.
 */
export class Settling {
  readonly #options: SettlingOptions;
  readonly #byStillness = new Map<string, Pending>();
  readonly #byAge = new Map<string, Pending>();
  readonly #temporary = new Map<string, Pending>();
  #burst: Burst | null = null;
  #running = false;
  #lastBatchMs = -Infinity;

  constructor(options: SettlingOptions) {
    this.#options = options;
  }

  /** Number of waiting paths. */
  get pending(): number {
    return this.#byAge.size + this.#temporary.size;
  }

  /** During a burst single paths are not recorded. */
  get isBursting(): boolean {
    return this.#burst !== null;
  }

  /** Records an event at a path. */
  touch(path: string): void {
    const nowMs = this.#options.clock.monotonic();
    if (this.#burst !== null) {
      this.#burst.lastMs = nowMs;
      return;
    }
    // An event below a waiting directory keeps the directory waiting: it will be scanned as a whole, and its files
    // should be complete by then.
    const held = this.#pendingAbove(path) ?? path;
    const firstMs = (this.#byAge.get(held) ?? this.#temporary.get(held))?.firstMs;
    if (firstMs === undefined && this.pending >= MOST_PENDING) {
      this.burst(`more than ${MOST_PENDING} files changed within a short time`);
      return;
    }
    const entry = { firstMs: firstMs ?? nowMs, stillSinceMs: nowMs, facts: this.#options.factsOf(held) };
    // An event below it shows that it is a directory, whatever its name looks like.
    const isTemporary = held === path && !this.#byAge.has(held) && looksTemporary(held);
    this.#temporary.delete(held);
    if (isTemporary) this.#temporary.set(held, entry);
    else {
      this.#byAge.set(held, entry);
      this.#byStillness.delete(held);
      this.#byStillness.set(held, entry);
    }
    this.#wake();
  }

  /** Events came too fast to be complete: forgets all paths and waits until the events stop. */
  burst(reason: string): void {
    const nowMs = this.#options.clock.monotonic();
    this.#byStillness.clear();
    this.#byAge.clear();
    this.#temporary.clear();
    if (this.#burst === null) {
      this.#burst = { reason, beganMs: nowMs, lastMs: nowMs };
      this.#options.bursting();
    } else this.#burst.lastMs = nowMs;
    this.#wake();
  }

  #pendingAbove(path: string): string | null {
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
      const above = path.slice(0, slash);
      if (this.#byAge.has(above) || this.#temporary.has(above)) return above;
    }
    return null;
  }

  #wake(): void {
    if (!this.#running) void this.#run();
  }

  /**
   * Runs while paths wait. What is added during a sleep is due after `settleMs` at the earliest, so a sleep of at most
   * that long never has to be cut short. An error of a listener ends it and surfaces as an unhandled rejection.
   */
  async #run(): Promise<void> {
    const { clock, signal, settleMs, maxDelayMs } = this.#options;
    const longestMs = Math.max(Math.min(settleMs, maxDelayMs), BATCH_SPACING_MS);
    this.#running = true;
    try {
      for (let dueMs = this.#dueMs(); dueMs !== null; dueMs = this.#dueMs()) {
        // Sleeps even if nothing has to be waited for: no callback may be called from within `touch`.
        await clock.sleep(Math.min(dueMs - clock.monotonic(), longestMs), signal);
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
    const [temporary] = this.#temporary.values();
    const dueMs = Math.min(
      (stillest?.stillSinceMs ?? Infinity) + settleMs,
      (oldest?.firstMs ?? Infinity) + maxDelayMs,
      (temporary?.stillSinceMs ?? Infinity) + temporarySettleMs(settleMs),
    );
    if (dueMs === Infinity) return null;
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
    const { settleMs } = this.#options;
    const ready = new Set([
      ...this.#takeOldest(nowMs),
      ...this.#takeStill(this.#byStillness, settleMs, nowMs),
      ...this.#takeStill(this.#temporary, temporarySettleMs(settleMs), nowMs),
    ]);
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

  #takeStill(byStillness: Map<string, Pending>, stillMs: number, nowMs: number): string[] {
    const { factsOf } = this.#options;
    const due: [string, Pending][] = [];
    for (const [path, entry] of byStillness) {
      if (entry.stillSinceMs + stillMs > nowMs || due.length === LOOKS_AT_ONCE) break;
      due.push([path, entry]);
    }
    const taken: string[] = [];
    for (const [path, entry] of due) {
      const facts = factsOf(path);
      byStillness.delete(path);
      if (facts === entry.facts) {
        this.#byAge.delete(path);
        taken.push(path);
      } else {
        // Written without an event, for example through a memory mapping: it must be unchanged once more.
        entry.facts = facts;
        entry.stillSinceMs = nowMs;
        byStillness.set(path, entry);
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
