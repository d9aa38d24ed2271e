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

/** The slowest acceptable rate of the store for one content. */
const SLOWEST_BYTES_PER_SECOND = 8_000;

/** The longest wait in stall timeouts: without a known rate, and with a measured one. */
const MOST_TIMEOUTS = 4;
const MOST_TIMEOUTS_MEASURED = 20;

/** Returns the longest time without progress before a transfer is given up, milliseconds. */
export function longestWaitMs(stallTimeoutMs: number): number {
  return stallTimeoutMs * MOST_TIMEOUTS_MEASURED;
}

export interface StandingTransfer {
  /** Bytes of this content that may be in buffers of the other side. */
  readonly ownBytes: number;
  /** The same for all contents under way. */
  readonly allBytes: number;
  /** Recent rate of all transfers; `null`: unknown. */
  readonly bytesPerSecond: number | null;
}

/**
 * Returns how long a transfer may make no progress before it is given up, milliseconds, while the other side is reachable.
 *
 * Sent bytes may be in invisible buffers: the other side gets twice the time that they take at the measured rate, or at the
 * slowest acceptable one.
 */
export function waitLimitMs(
  { ownBytes, allBytes, bytesPerSecond }: StandingTransfer,
  stallTimeoutMs: number,
): number {
  const slowestMs = stallTimeoutMs + 2000 * (ownBytes / SLOWEST_BYTES_PER_SECOND);
  const limitMs = Math.min(slowestMs, stallTimeoutMs * MOST_TIMEOUTS);
  if (bytesPerSecond === null) return limitMs;
  const measuredMs = stallTimeoutMs + 2000 * (allBytes / bytesPerSecond);
  return Math.max(limitMs, Math.min(measuredMs, longestWaitMs(stallTimeoutMs)));
}
