/** A store that takes less than this in a second, of one content, is not waited for. */
const SLOWEST_BYTES_PER_SECOND = 8_000;

/** Nothing is waited for longer than so many stall timeouts: where no rate is known, and where one was measured. */
const MOST_TIMEOUTS = 4;
const MOST_TIMEOUTS_MEASURED = 20;

/** The longest that a transfer may make no progress before it is given up, milliseconds. */
export function longestWaitMs(stallTimeoutMs: number): number {
  return stallTimeoutMs * MOST_TIMEOUTS_MEASURED;
}

/** What is known of a transfer in which nothing moves. */
export interface StandingTransfer {
  /** Bytes of this content that may lie in buffers of the other side. */
  readonly ownBytes: number;
  /** The same of all contents that are under way. */
  readonly allBytes: number;
  /** How fast content got through lately, in all; `null`: not known. */
  readonly bytesPerSecond: number | null;
}

/**
 * How long a transfer may make no progress before it is given up, milliseconds, while the other side is there.
 *
 * What was handed over may still lie in buffers that nobody can see: the other side is given twice the time that it takes
 * at the rate that was measured, or at the slowest that is borne with.
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
