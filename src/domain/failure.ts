/**
 * Why something that was asked of the platform was not done (interface.md, Errors; platform-facts.md, Errors).
 * `message` is for people and holds no secret.
 */
export type PlatformFailure =
  /** The token, or for `bot` this bot, was not accepted: asking again at once is pointless. */
  | { readonly kind: 'credentials'; readonly scope: 'all' | 'bot'; readonly message: string }
  /** A storage quota is used up: what needs none of it may go on. */
  | { readonly kind: 'quota'; readonly message: string }
  /** This request is not taken as it is: asking again without a change is pointless. */
  | { readonly kind: 'refused'; readonly message: string }
  /** May work later. `retryAfterMs`: the platform asked for at least this much patience. */
  | { readonly kind: 'transient'; readonly message: string; readonly retryAfterMs?: number };

/** A value, or the failure to get one. */
export type Outcome<T> =
  { readonly kind: 'ok'; readonly value: T } | { readonly kind: 'failed'; readonly failure: PlatformFailure };

/** Wraps a value. */
export function ok<T>(value: T): Outcome<T> {
  return { kind: 'ok', value };
}

/** Wraps a failure. */
export function failed(failure: PlatformFailure): {
  readonly kind: 'failed';
  readonly failure: PlatformFailure;
} {
  return { kind: 'failed', failure };
}
