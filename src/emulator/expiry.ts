import { refused, type Refused } from './answer.ts';

const MINUTE_MS = 60_000;
const LIFETIME_MAX_MS = 90 * 24 * 60 * MINUTE_MS;

/**
 * The moment a date-time means, epoch ms at minute precision; refused with 400 when it is not later than `now` or more
 * than 90 days away. Source: interface.md, Limits.
 */
export function checkExpiry(
  expiresAt: string,
  now: number,
): Refused | { readonly kind: 'expiry'; readonly at: number } {
  const at = Math.floor(Date.parse(expiresAt) / MINUTE_MS) * MINUTE_MS;
  if (!(at > now)) {
    const message = 'expiresAt: must be in the future (seconds and milliseconds are ignored)';
    return refused(400, 'InvalidPayload', message);
  }
  if (at > now + LIFETIME_MAX_MS) {
    return refused(400, 'InvalidPayload', 'expiresAt: must be at most 90 days from now');
  }
  return { kind: 'expiry', at };
}
