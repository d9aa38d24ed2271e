/** When requests were released, for as long as anybody asks about it. Times are those of the monotonic clock, milliseconds. */
export class RequestLog {
  readonly #keptMs: number;
  /** Oldest first; those before `#start` are forgotten. */
  #times: number[] = [];
  #start = 0;

  /** @param keptMs - how long a request is remembered. */
  constructor(keptMs: number) {
    this.#keptMs = keptMs;
  }

  /** Adds a request that is released now. */
  add(nowMs: number): void {
    this.#times.push(nowMs);
    while ((this.#times[this.#start] ?? Infinity) < nowMs - this.#keptMs) this.#start += 1;
    if (this.#start > 1024 && this.#start * 2 > this.#times.length) {
      this.#times.splice(0, this.#start);
      this.#start = 0;
    }
  }

  /** Takes back a request that was released at a moment: the platform did not count it. */
  remove(releasedAtMs: number): void {
    const at = this.#firstAfter(releasedAtMs) - 1;
    if (at >= this.#start && this.#times[at] === releasedAtMs) this.#times.splice(at, 1);
  }

  /** How many were released after one moment and up to another. */
  count(afterMs: number, untilMs: number): number {
    return this.#firstAfter(untilMs) - this.#firstAfter(afterMs);
  }

  /** When the n-th last request was released, from 1; `null`: there were fewer. */
  last(n: number): number | null {
    const at = this.#times.length - n;
    return at < this.#start ? null : (this.#times[at] ?? null);
  }

  #firstAfter(timeMs: number): number {
    let low = this.#start;
    let high = this.#times.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#times[middle] ?? Infinity) <= timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
