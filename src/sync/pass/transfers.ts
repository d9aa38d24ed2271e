import { Bag, type BagItem } from '../../domain/bag.ts';

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
  return concurrency + Math.ceil(concurrency * LENT_PART);
}

interface QueuedTransfer extends BagItem {
  readonly sizeBytes: number;
  beganMs: number;
  readonly begin: () => void;
}

/**
 * Gives exchanges with the platform their places. There are `concurrency` of them; on a line too thin for as many, large
 * content takes fewer, while small content and fresh changes pass it.
 */
export class Transfers {
  readonly #limits: TransferLimits;
  readonly #underWay = new Bag<QueuedTransfer>();
  /** First come, first served, in each. */
  #fresh: QueuedTransfer[] = [];
  #small: QueuedTransfer[] = [];
  #large: QueuedTransfer[] = [];
  #isTicking = false;

  constructor(limits: TransferLimits) {
    this.#limits = limits;
  }

  /**
   * Runs an exchange when there is a place for it.
   *
   * @param sizeBytes - of the content that it sends.
   */
  async run<T>(urgency: Urgency, sizeBytes: number, exchange: () => Promise<T>): Promise<T> {
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const own: QueuedTransfer = { sizeBytes, beganMs: 0, begin, bagIndex: -1 };
    if (urgency === 'fresh') this.#fresh.push(own);
    else if (isLarge(own)) this.#large.push(own);
    else this.#small.push(own);
    this.#beginNext();
    await begun;
    try {
      return await exchange();
    } finally {
      this.#underWay.delete(own);
      this.#beginNext();
    }
  }

  #beginNext(): void {
    const nowMs = this.#limits.timer.now();
    for (let next = this.#next(nowMs); next !== undefined; next = this.#next(nowMs)) {
      next.beganMs = nowMs;
      this.#underWay.add(next);
      next.begin();
    }
    const isAnyWaiting = this.#fresh.length + this.#small.length + this.#large.length > 0;
    if (!isAnyWaiting || this.#isTicking) return;
    // What is long, and how fast the store is, changes also while no transfer ends.
    this.#isTicking = true;
    this.#limits.timer.after(LONG_MS, () => {
      this.#isTicking = false;
      this.#beginNext();
    });
  }

  /** Takes the next transfer that may begin out of its queue. */
  #next(nowMs: number): QueuedTransfer | undefined {
    const free = this.#limits.concurrency - this.#taken(nowMs);
    if (free <= 0) return undefined;
    if (this.#fresh.length > 0) return this.#fresh.shift();
    if (free <= this.#limits.reserved) return undefined;
    const [large] = this.#large;
    const bytesUnderWay = large === undefined ? 0 : this.#largeBytes();
    // One large content is always under way, so that it does not wait forever behind small ones.
    if (large !== undefined && bytesUnderWay === 0) return this.#large.shift();
    if (this.#small.length > 0) return this.#small.shift();
    if (large === undefined || bytesUnderWay + this.#weight(large) > this.#budgetBytes()) return undefined;
    return this.#large.shift();
  }

  /** Places that are taken: those that a long transfer lends are not. */
  #taken(nowMs: number): number {
    const { concurrency } = this.#limits;
    const underWay = this.#underWay.size;
    if (underWay < concurrency) return underWay;
    let long = 0;
    for (const { beganMs } of this.#underWay) if (nowMs - beganMs >= LONG_MS) long += 1;
    return underWay - Math.min(long, mostTransfers(concurrency) - concurrency);
  }

  #largeBytes(): number {
    let bytes = 0;
    for (const one of this.#underWay) if (isLarge(one)) bytes += this.#weight(one);
    return bytes;
  }

  /** However large it is, a content takes half of what may be under way: it is there in pieces. */
  #weight({ sizeBytes }: QueuedTransfer): number {
    return Math.min(sizeBytes, this.#budgetBytes() / 2);
  }

  #budgetBytes(): number {
    const perSecond = this.#limits.storeBytesPerSecond() ?? 0;
    return Math.max(LEAST_BUDGET_BYTES, perSecond * SECONDS_UNDER_WAY);
  }
}

function isLarge({ sizeBytes }: QueuedTransfer): boolean {
  return sizeBytes > SMALL_BYTES;
}
