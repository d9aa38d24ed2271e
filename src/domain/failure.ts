/**
 * Why the platform did not do something (interface.md, Errors; platform-facts.md, Errors). `message` is for people and has no
 * secrets.
 */
export type PlatformFailure =
  /** The token was not accepted, or not for this bot, or the bot was not found: an immediate retry is pointless. */
  | {
      readonly kind: 'credentials';
      readonly scope: 'all' | 'bot' | 'unknown-bot';
      readonly message: string;
    }
  /** A storage quota is used up: work that needs no storage may go on. */
  | { readonly kind: 'quota'; readonly message: string }
  /** The platform does not accept this request: a retry without a change is pointless. */
  | { readonly kind: 'refused'; readonly message: string }
  /**
   * May work later.
   * - `retryAfterMs`: the shortest delay that the platform asked for.
   * - `notCarriedOut`: the request certainly had no effect, so a retry cannot do anything twice.
   * - `postponed`: the request was not sent, because the platform asked for a longer pause than botsync waits for.
   * - `answered`: the platform is reachable, and only this request must wait (429, a lock, an expired upload address).
   * - `unusable`: the answer was a success or a redirect, but without the expected content.
   * - `noConnection`: why no connection was made: an untrusted certificate, or an unreachable server on this or another machine.
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

/** Returns whether an error code is about a certificate that Node does not trust; nothing was sent. */
export function isAboutCertificate(code: string): boolean {
  return UNTRUSTED.has(code);
}

const UNTRUSTED = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
