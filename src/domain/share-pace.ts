import { rateAt, type HeldShare } from './share.ts';

/** A request that is released late by up to this is made up for, milliseconds; a time of rest is not. */
const LONGEST_CATCH_UP_MS = 20;

/** Sums of fractions fall short of one by less than this. */
const EPSILON = 1e-6;

/**
 * Spaces requests by a share that changes. Pure bookkeeping: the caller waits. Times are of the monotonic clock, milliseconds.
 *
 * In any stretch of time no more requests are released than the shares of that stretch sum up to, one, and what makes up for late
 * timers: so shares that never exceed a limit together keep a sliding limit together, also while they move between hosts.
 */
export class SharePace {
  #share: HeldShare;
  /** What may be released at `#countedMs`: from 1 on the next request. */
  #credit = 0;
  #countedMs: number;

  constructor(share: HeldShare, nowMs: number) {
    this.#share = share;
    this.#countedMs = nowMs;
  }

  /** Goes on with another share. */
  setShare(share: HeldShare, nowMs: number): void {
    this.#count(nowMs);
    this.#share = share;
  }

  /** When the next request may be released; `Infinity`: not with this share. */
  nextAtMs(nowMs: number): number {
    this.#count(nowMs);
    const lacking = 1 - this.#credit;
    if (lacking <= EPSILON) return nowMs;
    const { untilMs, floorPerSecond } = this.#share;
    const perSecond = rateAt(this.#share, nowMs);
    const atMs = nowMs + (lacking / perSecond) * 1000;
    if (nowMs >= untilMs || atMs <= untilMs) return atMs;
    const lackingThen = lacking - ((untilMs - nowMs) / 1000) * perSecond;
    return untilMs + (lackingThen / floorPerSecond) * 1000;
  }

  /** Takes note of a request that is released now. */
  released(nowMs: number): void {
    this.#count(nowMs);
    this.#credit -= 1;
  }

  #count(nowMs: number): void {
    const { perSecond, untilMs, floorPerSecond } = this.#share;
    const shareMs = Math.max(0, Math.min(nowMs, untilMs) - this.#countedMs);
    const floorMs = Math.max(0, nowMs - this.#countedMs - shareMs);
    const added = (shareMs * perSecond + floorMs * floorPerSecond) / 1000;
    const most = 1 + (rateAt(this.#share, nowMs) * LONGEST_CATCH_UP_MS) / 1000;
    this.#credit = Math.min(this.#credit + added, most);
    this.#countedMs = Math.max(this.#countedMs, nowMs);
  }
}
