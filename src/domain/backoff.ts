/** A delay that doubles with every failure, milliseconds. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The delay after the n-th failure in a row (from 1), milliseconds. */
export function backoffMs({ firstMs, longestMs }: Backoff, failures: number): number {
  return Math.min(firstMs * 2 ** (failures - 1), longestMs);
}

const RETRY: Backoff = { firstMs: 500, longestMs: 30_000 };

/**
 * How long to wait after the n-th failed attempt (from 1), in milliseconds: exponential backoff with full jitter,
 * never less than the platform asked for. `random` is a number in [0, 1).
 */
export function retryDelayMs(attempt: number, random: number, askedMs = 0): number {
  return askedMs + random * backoffMs(RETRY, attempt);
}

const PROBE: Backoff = { firstMs: 1000, longestMs: 30_000 };

/**
 * How long after the n-th failure of an outage (from 1) the platform is retried, in milliseconds: 1, 2, 4 … 30 s, or
 * down to half of that by chance. `random` is a number in [0, 1).
 */
export function probeDelayMs(failure: number, random: number): number {
  return backoffMs(PROBE, failure) * (0.5 + random / 2);
}
