/** Traffic is counted in stretches of this length, milliseconds. */
const STRETCH_MS = 1000;

const MOST_STRETCHES = 60;

/** The transfer rate of content, over all transfers together. Times are of the monotonic clock, milliseconds. */
export class Throughput {
  /** Bytes of each stretch with transfers, by its number; the latest last. */
  readonly #bytes = new Map<number, number>();

  /** Records bytes that were transferred in an interval, evenly as far as known; 0 bytes: transfers were under way. */
  note(bytes: number, fromMs: number, untilMs: number): void {
    const last = Math.floor(untilMs / STRETCH_MS);
    const first = Math.max(Math.floor(fromMs / STRETCH_MS), last - MOST_STRETCHES + 1);
    const each = bytes / (last - first + 1);
    for (let stretch = first; stretch <= last; stretch++) {
      this.#bytes.set(stretch, (this.#bytes.get(stretch) ?? 0) + each);
    }
    while (this.#bytes.size > MOST_STRETCHES) this.#bytes.delete(Math.min(...this.#bytes.keys()));
  }

  /** `seconds`: how many stretches with transfers count. `null`: nothing was transferred yet. */
  perSecond(seconds: number): number | null {
    const latest = [...this.#bytes].sort(([a], [b]) => b - a).slice(0, seconds);
    const sum = latest.reduce((total, [, bytes]) => total + bytes, 0);
    return sum === 0 ? null : (sum / latest.length) * (1000 / STRETCH_MS);
  }
}
