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
