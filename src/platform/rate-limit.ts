/** Response headers as undici gives them, names in lower case. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** What the platform says of its rate limit. */
export interface RateLimit {
  /** Requests left in the current window. */
  readonly remaining: number;
  /** Until the window is renewed. */
  readonly resetMs: number;
}

/** A longer pause than a day is a mistake of whoever asks for it, and would be one of ours if it were kept. */
const LONGEST_BELIEVED_MS = 86_400_000;

/**
 * How long the platform asks to wait, in milliseconds: `Retry-After` (seconds or a date), else `RateLimit-Reset` or
 * `X-RateLimit-Reset` (seconds; an epoch time in seconds is understood as well). At most a day.
 * `null` when it does not say.
 */
export function retryAfterMs(headers: ResponseHeaders, nowMs: number): number | null {
  const retryAfter = single(headers['retry-after']);
  if (retryAfter !== null) {
    if (/^\d+(\.\d+)?$/u.test(retryAfter)) return believed(Number(retryAfter) * 1000);
    const dateMs = Date.parse(retryAfter);
    if (!Number.isNaN(dateMs)) return believed(dateMs - nowMs);
  }
  return resetMs(headers, nowMs);
}

/** The state of the rate limit after a response; `null` when the headers do not say. */
export function readRateLimit(headers: ResponseHeaders, nowMs: number): RateLimit | null {
  const remaining = number(headers['ratelimit-remaining'] ?? headers['x-ratelimit-remaining']);
  const reset = resetMs(headers, nowMs);
  return remaining === null || reset === null ? null : { remaining, resetMs: reset };
}

/** Anything above this is no duration in seconds but a moment: in seconds since the epoch, or far above in milliseconds. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MS = 1e12;

function resetMs(headers: ResponseHeaders, nowMs: number): number | null {
  const seconds = number(headers['ratelimit-reset'] ?? headers['x-ratelimit-reset']);
  if (seconds === null) return null;
  if (seconds < EPOCH_SECONDS) return believed(seconds * 1000);
  return believed((seconds < EPOCH_MS ? seconds * 1000 : seconds) - nowMs);
}

function believed(waitMs: number): number {
  return Math.min(Math.max(0, waitMs), LONGEST_BELIEVED_MS);
}

function number(header: string | string[] | undefined): number | null {
  const text = single(header);
  return text !== null && /^\d+(\.\d+)?$/u.test(text) ? Number(text) : null;
}

function single(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header)?.trim() ?? null;
}
