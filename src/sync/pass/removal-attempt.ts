import type { PlatformFailure } from '../../domain/failure.ts';

/**
 * How an attempt to remove a file from the platform ended:
 * - `expires`: an empty file is in its place until then, epoch milliseconds.
 * - `gone`: nothing of it is there.
 * - `replaced`: somebody put another file there, which is left alone; `reason` says what shows it, for people.
 */
export type RemovalAttempt =
  | { readonly kind: 'expires'; readonly expiresAtMs: number }
  | { readonly kind: 'gone' }
  | { readonly kind: 'replaced'; readonly reason: string }
  | { readonly kind: 'failed'; readonly failure: PlatformFailure };
