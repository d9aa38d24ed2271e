/**
 * Spreads something countable over time: requests, bytes. Pure bookkeeping; the caller waits.
 *
 * A caller that takes more than is there goes into debt and is told how long to wait, so that a large amount need not be cut
 * into pieces and is still paid for by those who come later.
 */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #lastMs: number;

  /** @param burst - how much may be taken at once after a time of rest. */
  constructor(perSecond: number, burst: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
    this.#lastMs = nowMs;
  }

  /** Takes an amount and says how many milliseconds to wait before using it. A clock set back takes nothing away. */
  take(amount: number, nowMs: number): number {
    const elapsedMs = Math.max(0, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    this.#tokens = Math.min(this.#burst, this.#tokens + (elapsedMs / 1000) * this.#perSecond) - amount;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#perSecond) * 1000;
  }
}
