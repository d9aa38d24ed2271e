/** Traffic is counted in stretches of this length, milliseconds. */
const STRETCH_MS = 1000;

/** So many stretches are remembered. */
const MOST_STRETCHES = 60;

/** How fast content gets through, over all transfers together. Times are of the monotonic clock, milliseconds. */
export class Throughput {
  /** Bytes in each stretch in which anything was under way, by its number; the latest last. */
  readonly #bytes = new Map<number, number>();

  /** Takes note of bytes that got through in a time, evenly as far as is known; none: something was under way. */
  note(bytes: number, fromMs: number, untilMs: number): void {
    const last = Math.floor(untilMs / STRETCH_MS);
    const first = Math.max(Math.floor(fromMs / STRETCH_MS), last - MOST_STRETCHES + 1);
    const each = bytes / (last - first + 1);
    for (let stretch = first; stretch <= last; stretch++) {
      this.#bytes.set(stretch, (this.#bytes.get(stretch) ?? 0) + each);
    }
    while (this.#bytes.size > MOST_STRETCHES) this.#bytes.delete(Math.min(...this.#bytes.keys()));
  }

  /** Bytes a second, over the last so many seconds in which anything was under way; `null`: nothing got through yet. */
  perSecond(seconds: number): number | null {
    const latest = [...this.#bytes].sort(([a], [b]) => b - a).slice(0, seconds);
    const sum = latest.reduce((total, [, bytes]) => total + bytes, 0);
    return sum === 0 ? null : (sum / latest.length) * (1000 / STRETCH_MS);
  }
}
