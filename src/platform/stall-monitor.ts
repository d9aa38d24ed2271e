import { Bag } from '../domain/bag.ts';
import { readSendQueues } from './send-queue.ts';
import type { RequestWatch } from './request-watch.ts';

/** How often in a stall timeout requests are checked. */
const CHECKS_A_TIMEOUT = 8;

/**
 * Gives up requests in which nothing moves for `stallTimeout`, however long they take in all.
 *
 * What moves is seen at the connection: what was written, what the kernel has not taken, and, on Linux, what the other
 * side has not acknowledged. One timer serves all requests, and runs only while there are any.
 */
export class StallMonitor {
  readonly #stallTimeoutMs: number;
  readonly #periodMs: number;
  readonly #watches = new Bag<RequestWatch>();
  #timer: NodeJS.Timeout | null = null;
  #lastCheckMs = 0;

  constructor(stallTimeoutMs: number) {
    this.#stallTimeoutMs = stallTimeoutMs;
    this.#periodMs = Math.max(1, stallTimeoutMs / CHECKS_A_TIMEOUT);
  }

  /** Running requests. */
  get watches(): Iterable<RequestWatch> {
    return this.#watches;
  }

  /** Watches a request from now on. */
  add(watch: RequestWatch): void {
    this.#watches.add(watch);
    if (this.#watches.size === 1 && this.#timer === null) this.#lastCheckMs = performance.now();
    this.#schedule();
  }

  /** A request is over. */
  delete(watch: RequestWatch): void {
    this.#watches.delete(watch);
    if (this.#watches.size > 0 || this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  #schedule(): void {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      void this.#check();
    }, this.#periodMs);
  }

  async #check(): Promise<void> {
    this.#timer = null;
    const began = performance.now();
    const isAnyQuiet = [...this.#watches].some((watch) => watch.isQuietFor(this.#periodMs / 2, began));
    // Where all move nobody needs to know, and none is judged by it.
    const queues = isAnyQuiet ? await readSendQueues() : null;
    const nowMs = performance.now();
    // A machine that slept, or a loop that was blocked, saw nothing move, though it may have.
    const missedMs = nowMs - this.#lastCheckMs - 2 * this.#periodMs;
    this.#lastCheckMs = nowMs;
    const allBufferedBytes = [...this.#watches].reduce((sum, watch) => sum + watch.bufferedBytes, 0);
    for (const watch of [...this.#watches]) {
      if (missedMs > 0) watch.excuse(missedMs);
      watch.check(queues, allBufferedBytes, this.#stallTimeoutMs, nowMs);
    }
    if (this.#watches.size > 0) this.#schedule();
  }
}
