import type { Clock } from '../domain/clock.ts';
import { looksTemporary } from '../domain/temporary-name.ts';

/** More paths than this are no longer remembered one by one: looking at everything is cheaper, and memory stays bounded. */
export const MOST_PENDING = 10_000;

/** So many paths are looked at in one go: the event loop is not held up for longer than a few milliseconds. */
const LOOKS_AT_ONCE = 1000;

/** Batches follow each other no sooner. The first path after a pause does not wait for it. */
const BATCH_SPACING_MS = 10;

/** What looks temporary has to be unchanged so many times as long, but at least … */
const TEMPORARY_SETTLES = 4;

/** … this long: a program may pause before it renames what it wrote. */
const TEMPORARY_SETTLE_MS = 2000;

/** How long a path that looks temporary (see `looksTemporary`) has to be unchanged, milliseconds. */
export function temporarySettleMs(settleMs: number): number {
  return Math.max(TEMPORARY_SETTLES * settleMs, TEMPORARY_SETTLE_MS);
}

/** What settling needs from outside. */
export interface SettlingOptions {
  readonly settleMs: number;
  readonly maxDelayMs: number;
  readonly clock: Clock;
  /** Ends all waiting; nothing is told afterwards. */
  readonly signal: AbortSignal;
  /** A path's size, mtime, ctime and inode as a text to compare, or that it is absent. Never throws. */
  readonly factsOf: (path: string) => string;
  /** These paths stood still for `settleMs` (what looks temporary: longer), or waited for `maxDelayMs`. None is below another. */
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
 * Holds paths back until they are unchanged.
 *
 * Two maps hold the same entries. A map keeps the order of insertion, and a path that moves is inserted again, so one
 * map is sorted by how long its paths stand still, the other by how long they wait, and nothing is ever sorted. What looks
 * temporary is in a third: it does not become due by waiting, as sending what will be renamed is of no use to anyone.
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

  /** Paths that wait. */
  get pending(): number {
    return this.#byAge.size + this.#temporary.size;
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
    const firstMs = (this.#byAge.get(held) ?? this.#temporary.get(held))?.firstMs;
    if (firstMs === undefined && this.pending >= MOST_PENDING) {
      this.burst(`more than ${MOST_PENDING} files changed within a short time`);
      return;
    }
    const entry = { firstMs: firstMs ?? nowMs, stillSinceMs: nowMs, facts: this.#options.factsOf(held) };
    // What happens below it shows that it is a directory, whatever it looks like.
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

  /** Events came too fast to be trusted: forgets all paths, and waits for calm. */
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
   * Runs while anything waits. What is added during a sleep is due after `settleMs` at the earliest, so one that is no
   * longer never has to be cut short. An error of a listener ends it and surfaces as an unhandled rejection.
   */
  async #run(): Promise<void> {
    const { clock, signal, settleMs, maxDelayMs } = this.#options;
    const longestMs = Math.max(Math.min(settleMs, maxDelayMs), BATCH_SPACING_MS);
    this.#running = true;
    try {
      for (let dueMs = this.#dueMs(); dueMs !== null; dueMs = this.#dueMs()) {
        // Also with nothing to wait for: nobody is told anything from within `touch`.
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
        // Written without an event, as through a mapping: it has to be unchanged once more.
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
