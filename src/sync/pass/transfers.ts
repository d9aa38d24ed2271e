import pLimit, { type LimitFunction } from 'p-limit';

/** Content up to this size takes a negligible part of the bandwidth. */
const SMALL_BYTES = 16 * 1024;

/**
 * The content in progress is limited to this many seconds of the store's rate: more would only slow each transfer down.
 */
const SECONDS_UNDER_WAY = 10;

/** The lower limit of the content in progress, for a slow line or an unknown rate, bytes. */
const LEAST_BUDGET_BYTES = 256 * 1024;

/** A longer transfer lends its place to others, milliseconds. */
const LONG_MS = 1000;

/** The largest part of all places that is lent. */
const LENT_PART = 0.5;

/** Fresh changes go first. */
export type Urgency = 'fresh' | 'bulk';

export interface TransferLimits {
  /** Concurrent transfers, besides those that lend their places. */
  readonly concurrency: number;
  /** Places kept for fresh changes. */
  readonly reserved: number;
  /** The rate of the store over all transfers, bytes per second; `null`: unknown. */
  readonly storeBytesPerSecond: () => number | null;
  readonly timer: Timer;
}

/** Real time, even if the clock is simulated: it measures how busy a line is. */
export interface Timer {
  /** Milliseconds since a fixed moment. */
  readonly now: () => number;
  /** Runs a function after a delay in milliseconds. Does not keep the process alive. */
  readonly after: (ms: number, run: () => void) => void;
}

/** Returns the most concurrent transfers, including those that lend their places. */
export function mostTransfers(concurrency: number): number {
  return concurrency + Math.floor(concurrency * LENT_PART);
}

/**
 * Limits concurrent exchanges with the platform to `concurrency`. On a slow line, large content gets fewer places,
 * while small content and fresh changes pass it.
 */
export class Transfers {
  readonly #limits: TransferLimits;
  /** Every transfer takes one. */
  readonly #places: LimitFunction;
  /** Taken first by everything that is not fresh, so that the reserved places stay free. */
  readonly #bulk: LimitFunction;
  /** Taken before `#bulk`, by small and by large content: both enter `#bulk` in the order of their requests. */
  readonly #small: LimitFunction;
  readonly #large: LimitFunction;
  /** The start times of running transfers, oldest first. */
  readonly #began = new Set<{ readonly atMs: number }>();
  readonly #largeContents = new Set<{ readonly sizeBytes: number }>();
  /** Transfers, waiting or running. */
  #asked = 0;
  #isTicking = false;

  constructor(limits: TransferLimits) {
    const { concurrency, reserved } = limits;
    this.#limits = limits;
    this.#places = pLimit(concurrency);
    this.#bulk = pLimit(concurrency - reserved);
    this.#small = pLimit(Infinity);
    this.#large = pLimit(1);
  }

  /**
   * Runs an exchange once there is a place for it.
   *
   * @param sizeBytes - of the content that it sends.
   */
  async run<T>(urgency: Urgency, sizeBytes: number, exchange: () => Promise<T>): Promise<T> {
    this.#asked += 1;
    this.#tick();
    try {
      return await this.#inLane(urgency, sizeBytes, exchange);
    } finally {
      this.#asked -= 1;
    }
  }

  #inLane<T>(urgency: Urgency, sizeBytes: number, exchange: () => Promise<T>): Promise<T> {
    const inPlace = (): Promise<T> => this.#places(() => this.#timed(exchange));
    const inBulk = (): Promise<T> => this.#bulk(inPlace);
    if (urgency === 'fresh') return inPlace();
    return sizeBytes > SMALL_BYTES ? this.#runLarge(sizeBytes, inBulk) : this.#small(inBulk);
  }

  async #runLarge<T>(sizeBytes: number, run: () => Promise<T>): Promise<T> {
    const own = { sizeBytes };
    this.#largeContents.add(own);
    this.#adjust();
    try {
      return await this.#large(run);
    } finally {
      this.#largeContents.delete(own);
      this.#adjust();
    }
  }

  async #timed<T>(exchange: () => Promise<T>): Promise<T> {
    const own = { atMs: this.#limits.timer.now() };
    this.#began.add(own);
    try {
      return await exchange();
    } finally {
      this.#began.delete(own);
      if (this.#places.concurrency > this.#limits.concurrency) this.#adjust();
    }
  }

  /** Adjusts the limits while transfers wait: running ones become long, and the store's rate changes. */
  #tick(): void {
    const isAnyWaiting = this.#asked > this.#began.size;
    if (!isAnyWaiting || this.#isTicking) return;
    this.#isTicking = true;
    this.#limits.timer.after(LONG_MS, () => {
      this.#isTicking = false;
      this.#adjust();
      this.#tick();
    });
  }

  #adjust(): void {
    const { concurrency, reserved } = this.#limits;
    const places = Math.min(concurrency + this.#longCount(), mostTransfers(concurrency));
    this.#places.concurrency = places;
    this.#bulk.concurrency = places - reserved;
    this.#large.concurrency = Math.min(this.#largeAtATime(), places);
  }

  /** Returns how many contents of average size fit into the budget, at least two. */
  #largeAtATime(): number {
    const budget = this.#budgetBytes();
    let bytes = 0;
    // Content of any size counts for at most half of the budget, because it is sent in pieces.
    for (const { sizeBytes } of this.#largeContents) bytes += Math.min(sizeBytes, budget / 2);
    return bytes === 0 ? 2 : Math.floor((budget * this.#largeContents.size) / bytes);
  }

  #longCount(): number {
    const nowMs = this.#limits.timer.now();
    let count = 0;
    for (const { atMs } of this.#began) {
      if (nowMs - atMs < LONG_MS) break;
      count += 1;
    }
    return count;
  }

  #budgetBytes(): number {
    const perSecond = this.#limits.storeBytesPerSecond() ?? 0;
    return Math.max(LEAST_BUDGET_BYTES, perSecond * SECONDS_UNDER_WAY);
  }
}
