import { createHmac, timingSafeEqual } from 'node:crypto';

/** What the signature of an address of content covers. */
export interface SignedAddress {
  readonly path: string;
  /** Basic ISO 8601 to the second, as in X-Amz-Date. */
  readonly date: string;
  readonly expiresSeconds: string;
}

/** What the signature of an upload address covers; a request that differs in any of it is refused. */
export interface SignedUpload extends SignedAddress {
  readonly contentType: string;
  readonly contentLength: string;
  /** The value of x-amz-tagging, '' without the header. */
  readonly tagging: string;
}

/** The tagging that publicContentImmediatelyAccessible demands. Source: interface.md, Create or update a file. */
export const PUBLIC_TAGGING = 'public=true';

/** The hexadecimal signature of an upload address. */
export function signUpload(secret: string, upload: SignedUpload): string {
  return sign(secret, [
    'PUT',
    upload.path,
    upload.date,
    upload.expiresSeconds,
    upload.contentType,
    upload.contentLength,
    upload.tagging,
  ]);
}

/** The hexadecimal signature of the address of content that is not public. */
export function signContent(secret: string, { path, date, expiresSeconds }: SignedAddress): string {
  return sign(secret, ['GET', path, date, expiresSeconds]);
}

/** Whether the time of a signed address is over. `now`: epoch ms. */
export function hasExpired({ date, expiresSeconds }: SignedAddress, now: number): boolean {
  return now > parseAmzDate(date) + Number(expiresSeconds) * 1000;
}

/** Compares two secrets or signatures in constant time. */
export function isSameSecret(expected: string, given: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Epoch milliseconds as X-Amz-Date has it: 20260131T235959Z. */
export function formatAmzDate(epochMs: number): string {
  return new Date(epochMs)
    .toISOString()
    .replace(/\.\d{3}/, '')
    .replaceAll(/[-:]/g, '');
}

/** The epoch milliseconds of an X-Amz-Date; NaN when it is none. */
function parseAmzDate(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, '$1-$2-$3:$4:$5'));
}

function sign(secret: string, parts: readonly string[]): string {
  return createHmac('sha256', secret).update(parts.join('\n')).digest('hex');
}
