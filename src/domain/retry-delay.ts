const FIRST_CEILING_MS = 500;
const HIGHEST_CEILING_MS = 30_000;

/**
 * How long to wait after the n-th failed attempt (from 1), in milliseconds: exponential backoff with full jitter,
 * never less than the platform asked for. `random` is a number in [0, 1).
 */
export function retryDelayMs(attempt: number, random: number, askedMs = 0): number {
  const ceilingMs = Math.min(FIRST_CEILING_MS * 2 ** (attempt - 1), HIGHEST_CEILING_MS);
  return askedMs + random * ceilingMs;
}

const FIRST_PROBE_CEILING_MS = 1000;

/**
 * How long after the n-th failure of an outage (from 1) the platform is tried again, in milliseconds: 1, 2, 4 … 30 s, or
 * down to half of that by chance. `random` is a number in [0, 1).
 */
export function probeDelayMs(failure: number, random: number): number {
  const ceilingMs = Math.min(FIRST_PROBE_CEILING_MS * 2 ** (failure - 1), HIGHEST_CEILING_MS);
  return ceilingMs * (0.5 + random / 2);
}
