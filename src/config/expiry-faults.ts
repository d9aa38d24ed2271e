import type { ExpiryFault } from '../domain/obstacle.ts';

/** Returns why an expiry cannot be sent: a sentence without its full stop. */
export function describeExpiryFault(fault: ExpiryFault): string {
  switch (fault.kind) {
    case 'lifetime-too-short':
      return 'expiresIn is shorter than a minute, and the platform counts whole minutes; write at least "1m"';
    case 'lifetime-too-long':
      return 'expiresIn is longer than the 90 days that the platform allows; write at most "90d"';
    case 'expiry-past':
      return `expiresAt ${fault.expiresAt} is not in the future`;
    case 'expiry-too-far':
      return `expiresAt ${fault.expiresAt} is more than the 90 days away that the platform allows`;
  }
}
