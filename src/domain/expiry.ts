import type { ExpiryFault } from './obstacle.ts';
import type { Expiry } from './settings.ts';

const MINUTE_MS = 60_000;

/** interface.md, Limits: `expiresAt` is at most 90 days from now. Milliseconds. */
export const LONGEST_LIFETIME_MS = 90 * 86_400_000;

/** Lifetime of the empty file that replaces a removed one: the shortest that survives truncation and a slow request. */
const REMOVAL_LIFETIME_MS = 2 * MINUTE_MS;

/** An `expiresAt` that the platform accepts (epoch milliseconds, a whole minute), or why there is none. */
export type ExpiryCheck =
  | { readonly kind: 'ok'; readonly expiresAtMs: number }
  | { readonly kind: 'out-of-range'; readonly fault: ExpiryFault };

/**
 * Returns the `expiresAt` to send now (interface.md, Limits: only minutes count, must be in the future, at most 90 days away).
 *
 * Shortens a lifetime of exactly 90 days by a minute, in case of a slow request or a clock that is a few seconds off. `nowMs` is
 * the platform's time, epoch milliseconds.
 */
export function checkExpiry(expiry: Expiry, nowMs: number): ExpiryCheck {
  switch (expiry.kind) {
    case 'in': {
      if (expiry.lifetimeMs < MINUTE_MS) return outOfRange({ kind: 'lifetime-too-short' });
      if (expiry.lifetimeMs > LONGEST_LIFETIME_MS) return outOfRange({ kind: 'lifetime-too-long' });
      const latestMs = nowMs + LONGEST_LIFETIME_MS - MINUTE_MS;
      return { kind: 'ok', expiresAtMs: toMinute(Math.min(nowMs + expiry.lifetimeMs, latestMs)) };
    }
    case 'at': {
      const expiresAtMs = toMinute(expiry.atMs);
      const expiresAt = new Date(expiry.atMs).toISOString();
      if (expiresAtMs <= nowMs) return outOfRange({ kind: 'expiry-past', expiresAt });
      if (expiresAtMs > nowMs + LONGEST_LIFETIME_MS) return outOfRange({ kind: 'expiry-too-far', expiresAt });
      return { kind: 'ok', expiresAtMs };
    }
  }
}

/** Returns the `expiresAt` of the empty file that replaces a removed one where files are not deleted (epoch milliseconds). */
export function removalExpiry(nowMs: number): number {
  return toMinute(nowMs + REMOVAL_LIFETIME_MS);
}

/** Returns when an expiring file is due to be sent again (epoch milliseconds); `null`: never, it may expire. */
export function renewalTime(expiry: Expiry | null, expiresAtMs: number): number | null {
  return expiry?.kind === 'in' && expiry.renewal !== null ? expiresAtMs - expiry.renewal.beforeMs : null;
}

function toMinute(timeMs: number): number {
  return Math.floor(timeMs / MINUTE_MS) * MINUTE_MS;
}

function outOfRange(fault: ExpiryFault): ExpiryCheck {
  return { kind: 'out-of-range', fault };
}
