/**
 * Spreads countable things, such as requests or bytes, over time. Does not wait; the caller does.
 *
 * A caller that takes more than is available goes into debt and gets a wait, so that a large amount need not be cut into pieces
 * and later callers wait for it.
 */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #lastMs: number;

  /** @param burst - how much may be taken at once after a pause. */
  constructor(perSecond: number, burst: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
    this.#lastMs = nowMs;
  }

  /** Takes an amount and returns the wait before its use, milliseconds. A clock that is set back takes nothing away. */
  take(amount: number, nowMs: number): number {
    const elapsedMs = Math.max(0, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    this.#tokens = Math.min(this.#burst, this.#tokens + (elapsedMs / 1000) * this.#perSecond) - amount;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#perSecond) * 1000;
  }
}
