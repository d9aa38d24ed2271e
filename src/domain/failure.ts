/**
 * Why the platform did not do something (interface.md, Errors; platform-facts.md, Errors). `message` is for people and has no
 * secrets.
 */
export type PlatformFailure =
  /**
   * The token was not accepted, for everything or for this bot, or the bot was not found: asking again at once is pointless.
   */
  | {
      readonly kind: 'credentials';
      readonly scope: 'all' | 'bot' | 'unknown-bot';
      readonly message: string;
    }
  /** A storage quota is used up: what needs none of it may go on. */
  | { readonly kind: 'quota'; readonly message: string }
  /** This request is not accepted: a retry without a change is pointless. */
  | { readonly kind: 'refused'; readonly message: string }
  /**
   * May work later. `retryAfterMs`: the platform asked for at least this much patience. `notCarriedOut`: the request
   * certainly had no effect, so that repeating it does nothing twice. `postponed`: it was not even sent, as the platform
   * asked for a pause that is too long to wait for. `answered`: the platform is there and only this request has to wait
   * (429, a lock, an upload address that is not accepted any more). `unusable`: it came back as a success, or as a redirect,
   * without what was asked for. `noConnection`: no connection was made, because the certificate is not trusted, or to this machine or another one.
   */
  | {
      readonly kind: 'transient';
      readonly message: string;
      readonly retryAfterMs?: number;
      readonly notCarriedOut?: true;
      readonly postponed?: true;
      readonly answered?: true;
      readonly unusable?: true;
      readonly noConnection?: 'untrusted' | 'local' | 'remote';
    };

/** Failure of a request for one object, which may not exist (interface.md, Errors: 404). */
export type LookupFailure = PlatformFailure | { readonly kind: 'not-found'; readonly message: string };

/** Failure of an operation that a platform may not offer. `isByToken`: it may offer the operation for another token. */
export type OptionalFailure =
  LookupFailure | { readonly kind: 'not-served'; readonly message: string; readonly isByToken?: true };

export type Outcome<T, F = PlatformFailure> =
  { readonly kind: 'ok'; readonly value: T } | { readonly kind: 'failed'; readonly failure: F };

export function ok<T>(value: T): { readonly kind: 'ok'; readonly value: T } {
  return { kind: 'ok', value };
}

export function failed<F>(failure: F): { readonly kind: 'failed'; readonly failure: F } {
  return { kind: 'failed', failure };
}
