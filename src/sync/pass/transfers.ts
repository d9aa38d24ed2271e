import pLimit, { type LimitFunction } from 'p-limit';

/** Content up to this size takes no noticeable part of any line. */
const SMALL_BYTES = 16 * 1024;

/** So many seconds of the store's rate are under way at a time: more would only make each of them slower. */
const SECONDS_UNDER_WAY = 10;

/** So much is under way also on a line whose rate is not known, or is very low, bytes. */
const LEAST_BUDGET_BYTES = 256 * 1024;

/** A transfer that takes longer lends its place to others, milliseconds: it keeps the line busy, and little else. */
const LONG_MS = 1000;

/** Up to this part of all places is lent. */
const LENT_PART = 0.5;

/** What a transfer is: a change of just now goes first. */
export type Urgency = 'fresh' | 'bulk';

/** Who may be under way at a time. */
export interface TransferLimits {
  /** Transfers at a time, beside those that lent their place. */
  readonly concurrency: number;
  /** How many of them are kept for fresh changes. */
  readonly reserved: number;
  /** Bytes of content that the store takes in a second, over all transfers; `null`: not known. */
  readonly storeBytesPerSecond: () => number | null;
  readonly timer: Timer;
}

/** Real time, also where that of the clock is another: it is about how busy a line is. */
export interface Timer {
  /** Milliseconds since some moment. */
  readonly now: () => number;
  /** Runs something after so many milliseconds, unless the process has ended by then. */
  readonly after: (ms: number, run: () => void) => void;
}

/** How many transfers may be under way in all, those included that lent their place. */
export function mostTransfers(concurrency: number): number {
  return concurrency + Math.floor(concurrency * LENT_PART);
}

/**
 * Gives exchanges with the platform their places. There are `concurrency` of them; on a line too thin for as many, large
 * content takes fewer, while small content and fresh changes pass it.
 */
export class Transfers {
  readonly #limits: TransferLimits;
  /** Every transfer takes one. */
  readonly #places: LimitFunction;
  /** Taken first by what is not fresh, so that the reserved places stay free. */
  readonly #bulk: LimitFunction;
  /** Taken before that, by small and by large content: both lanes enter `#bulk` in the order in which they were asked. */
  readonly #small: LimitFunction;
  readonly #large: LimitFunction;
  /** When those under way began, oldest first. */
  readonly #began = new Set<{ readonly atMs: number }>();
  /** Large content, waiting or under way. */
  readonly #largeContents = new Set<{ readonly sizeBytes: number }>();
  /** Transfers that wait or are under way. */
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
   * Runs an exchange when there is a place for it.
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

  /** While transfers wait, those under way get long, and the store's rate changes. */
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

  /** As many as have room in what may be under way, if all were of average size; at least two. */
  #largeAtATime(): number {
    const budget = this.#budgetBytes();
    let bytes = 0;
    // However large it is, a content takes half of what may be under way: it is there in pieces.
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
