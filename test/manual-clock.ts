import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../src/domain/clock.ts';

interface Sleeper {
  readonly wakesAtMs: number;
  readonly wake: () => void;
}

/**
 * A clock that stands still until a test moves it. Wall time can jump by itself; sleepers only know of monotonic time.
 * What a sleeper does when it wakes is over before the next one wakes, as far as it does not wait for the outside.
 */
export class ManualClock implements Clock {
  #monotonicMs = 0;
  #wallAheadMs: number;
  readonly #grainMs: number;
  readonly #sleepers = new Set<Sleeper>();

  /**
   * @param nowMs - the wall clock at the beginning, epoch milliseconds.
   * @param grainMs - sleepers wake at multiples of this only, later than they asked for: a timer promises no more, and
   *   months go by with fewer steps.
   */
  constructor(nowMs = Date.UTC(2026, 0, 1), grainMs = 0) {
    this.#wallAheadMs = nowMs;
    this.#grainMs = grainMs;
  }

  /** Whole milliseconds, as every wall clock here. */
  readonly now = (): number => Math.floor(this.#monotonicMs + this.#wallAheadMs);

  readonly monotonic = (): number => this.#monotonicMs;

  readonly sleep = (ms: number, signal: AbortSignal): Promise<void> => {
    if (ms <= 0 || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#sleepers.delete(sleeper);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const askedMs = this.#monotonicMs + ms;
      const grainMs = this.#grainMs;
      const wakesAtMs = grainMs === 0 ? askedMs : Math.ceil(askedMs / grainMs) * grainMs;
      const sleeper = { wakesAtMs, wake };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', wake);
    });
  };

  /** How many sleep now. */
  get sleepers(): number {
    return this.#sleepers.size;
  }

  /** Milliseconds until the next one wakes; `null` when nobody sleeps. */
  get nextWakeMs(): number | null {
    const next = this.#next();
    return next === null ? null : next.wakesAtMs - this.#monotonicMs;
  }

  /**
   * Lets time go by, and wakes whoever is due, in order; those who fall asleep again meanwhile are woken again. Done
   * when all that they did at once is done.
   */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#monotonicMs + ms;
    await turn();
    for (let next = this.#next(); next !== null && next.wakesAtMs <= untilMs; next = this.#next()) {
      this.#monotonicMs = Math.max(this.#monotonicMs, next.wakesAtMs);
      next.wake();
      await turn();
    }
    this.#monotonicMs = Math.max(this.#monotonicMs, untilMs);
    await turn();
  }

  /** Sets the wall clock to other than it was, as an administrator or NTP does: nobody wakes. */
  jumpWallClock(ms: number): void {
    this.#wallAheadMs += ms;
  }

  /** The one that wakes next; of several at one time, the one that fell asleep first. */
  #next(): Sleeper | null {
    let next: Sleeper | null = null;
    for (const sleeper of this.#sleepers) {
      if (next === null || sleeper.wakesAtMs < next.wakesAtMs) next = sleeper;
    }
    return next;
  }
}
