import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Platform } from './platform.ts';
import type { EmulatorRequest } from './request.ts';

/** An address of the object store with a limited lifetime. */
export interface Signing {
  readonly path: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly lifetimeMs: number;
  /** Signed values of the request; requests with other values are refused. */
  readonly signed: readonly string[];
}

/** Returns an address in the style of S3. Source: platform-facts.md, The upload. */
export function signAddress({ path, at, lifetimeMs, signed }: Signing, platform: Platform): string {
  // Basic ISO 8601 to the second: 20260131T235959Z.
  const date = new Date(at).toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const expires = String(Math.max(1, Math.ceil(lifetimeMs / 1000)));
  const signature = sign(platform, [path, date, expires, ...signed]);
  return `${platform.baseUrl}${path}?X-Amz-Expires=${expires}&X-Amz-Date=${date}&X-Amz-Signature=${signature}`;
}

/** Checks the signature and the lifetime of the address of a request. */
export function checkAddress(
  { path, query }: EmulatorRequest,
  signed: readonly string[],
  platform: Platform,
): 'good' | 'forged' | 'expired' {
  const date = query.get('X-Amz-Date') ?? '';
  const expires = query.get('X-Amz-Expires') ?? '';
  const expected = sign(platform, [path, date, expires, ...signed]);
  if (!isSameSecret(expected, query.get('X-Amz-Signature') ?? '')) return 'forged';
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, '$1-$2-$3:$4:$5'));
  return platform.now() > at + Number(expires) * 1000 ? 'expired' : 'good';
}

/** Compares two secrets or signatures in constant time. */
export function isSameSecret(expected: string, given: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function sign({ identity }: Platform, parts: readonly string[]): string {
  return createHmac('sha256', identity.signingSecret).update(parts.join('\n')).digest('hex');
}
