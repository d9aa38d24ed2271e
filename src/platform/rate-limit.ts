import type { RateLimitReport } from '../domain/request-rate.ts';

/** Response headers of undici, names in lower case. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The longest pause that is observed: a longer one is a mistake of the server. */
const LONGEST_BELIEVED_MS = 86_400_000;

/**
 * Returns how long the platform asks to wait, in milliseconds: `Retry-After` (seconds or a date), otherwise
 * `RateLimit-Reset` or `X-RateLimit-Reset` (seconds, or an epoch time in seconds). At most a day. `null`: it does not
 * ask.
 *
 * Every answer of the platform contains the reset of its rate limit (platform-facts.md, Rate limits); it asks for a
 * wait only if the limit is used up.
 */
export function retryAfterMs(status: number, headers: ResponseHeaders, nowMs: number): number | null {
  const retryAfter = single(headers['retry-after']);
  if (retryAfter !== null) {
    if (/^\d+(\.\d+)?$/u.test(retryAfter)) return believed(Number(retryAfter) * 1000);
    const dateMs = Date.parse(retryAfter);
    if (!Number.isNaN(dateMs)) return believed(dateMs - nowMs);
  }
  return status === 429 || remainingIn(headers) === 0 ? resetMs(headers, nowMs) : null;
}

/** Returns the state of the rate limit after a response; `null` if the headers do not say how much is left. */
export function readRateLimit(headers: ResponseHeaders, nowMs: number): RateLimitReport | null {
  const remaining = remainingIn(headers);
  if (remaining === null) return null;
  return {
    remaining,
    limit: limitIn(headers),
    resetMs: resetMs(headers, nowMs),
    windowMs: windowMs(headers),
  };
}

/** `100`, or `100, 100;w=1` in a draft of the standard. */
function limitIn(headers: ResponseHeaders): number | null {
  const told = /^\d{1,15}(?=$|\s*[,;])/u.exec(single(limitHeader(headers)) ?? '')?.[0];
  return told === undefined ? null : Number(told);
}

/** The window, which drafts of the standard have in `RateLimit-Policy: 100;w=1` or next to the limit, in seconds. */
function windowMs(headers: ResponseHeaders): number | null {
  const told = /;\s*w=(\d{1,6})\b/u.exec(
    single(headers['ratelimit-policy']) ?? single(limitHeader(headers)) ?? '',
  )?.[1];
  return told === undefined || Number(told) === 0 ? null : Number(told) * 1000;
}

function limitHeader(headers: ResponseHeaders): string | string[] | undefined {
  return headers['ratelimit-limit'] ?? headers['x-ratelimit-limit'];
}

function remainingIn(headers: ResponseHeaders): number | null {
  return number(headers['ratelimit-remaining'] ?? headers['x-ratelimit-remaining']);
}

/** A larger value is not a duration in seconds but a time: epoch seconds, or from `EPOCH_MS` on epoch milliseconds. */
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
