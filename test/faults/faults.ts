import type { FaultAction } from '../../src/emulator/faults.ts';

/** How a fault is brought about. */
export type Cause =
  /** The emulator strikes every request of the operation. In messages "TOKEN" stands for the secrets of the place. */
  | { readonly kind: 'request'; readonly action: (nowMs: number) => FaultAction }
  /** Requests are sent on to a server that is nobody's business. */
  | { readonly kind: 'redirect' }
  /** Nobody listens at the address. */
  | { readonly kind: 'dead' }
  /** The address is encrypted, with a certificate of an authority that nobody knows. */
  | { readonly kind: 'unknown-authority' }
  /** The upsert is carried out and names an address whose signature has expired. */
  | { readonly kind: 'expired' }
  /** The platform's clock is so far ahead of ours, milliseconds. */
  | { readonly kind: 'skew'; readonly aheadMs: number };

const DAY_MS = 86_400_000;

const request = (action: FaultAction): Cause => ({ kind: 'request', action: () => action });

/** What platforms say may repeat what they were sent. */
const WORDS = 'said to TOKEN';

function status(statusCode: number, type: string, headers: Record<string, string> = {}): Cause {
  return request({ kind: 'status', status: statusCode, type, message: WORDS, headers });
}

const html = (statusCode: number): Cause =>
  request({ kind: 'status', status: statusCode, body: '<html>TOKEN</html>' });

/** Every status of the platform with every type that goes with it, and their otherHosts. */
export const STATUS_FAULTS = {
  '400 InvalidPayload': status(400, 'InvalidPayload'),
  '400 InvalidDataFormat': status(400, 'InvalidDataFormat'),
  '400 InvalidQuery': status(400, 'InvalidQuery'),
  '400 ReferenceNotFound': status(400, 'ReferenceNotFound'),
  '401 Unauthorized': status(401, 'Unauthorized'),
  '402 PaymentRequired': status(402, 'PaymentRequired'),
  '403 Forbidden': status(403, 'Forbidden'),
  '403 QuotaExceeded': status(403, 'QuotaExceeded'),
  '403 QuotaExceeded, in the other shape': request({
    kind: 'status',
    status: 403,
    body: { type: 'QuotaExceeded', description: 'full', status: 403 },
  }),
  '404 ResourceNotFound': status(404, 'ResourceNotFound'),
  '405 MethodNotFound': status(405, 'MethodNotFound'),
  '408 RequestTimeout': status(408, 'RequestTimeout'),
  '409 ResourceLockedConflict': status(409, 'ResourceLockedConflict'),
  '409 AlreadyExists': status(409, 'AlreadyExists'),
  '409 RelationConflict': status(409, 'RelationConflict'),
  '410 ResourceGone': status(410, 'ResourceGone'),
  '413 PayloadTooLarge': status(413, 'PayloadTooLarge'),
  '413 LimitExceeded': status(413, 'LimitExceeded'),
  '415 UnsupportedMediaType': status(415, 'UnsupportedMediaType'),
  '429 RateLimited': status(429, 'RateLimited'),
  '500 Unknown': status(500, 'Unknown'),
  '500 Internal': status(500, 'Internal'),
  '502 with a page of HTML': html(502),
  '503 Unavailable': status(503, 'Unavailable'),
  '504 OperationTimeout': status(504, 'OperationTimeout'),
} as const satisfies Record<string, Cause>;

/** How long the faults of the rate limit ask to wait, seconds; some more for a date, which has no fractions. */
const PAUSE_SECONDS = 20;
const date = (nowMs: number): string => new Date(nowMs + (PAUSE_SECONDS + 2) * 1000).toUTCString();
const used = (prefix: string): Cause =>
  request({
    kind: 'headers',
    headers: {
      [`${prefix}Limit`]: '100',
      [`${prefix}Remaining`]: '0',
      [`${prefix}Reset`]: String(PAUSE_SECONDS),
    },
  });

/** All ways in which a platform asks for patience. */
export const PATIENCE_FAULTS = {
  '429 with Retry-After in seconds': status(429, 'RateLimited', { 'Retry-After': String(PAUSE_SECONDS) }),
  '429 with Retry-After as a date': {
    kind: 'request',
    action: (nowMs) => ({
      kind: 'status',
      status: 429,
      type: 'RateLimited',
      headers: { 'Retry-After': date(nowMs) },
    }),
  },
  '429 with RateLimit-Reset': status(429, 'RateLimited', { 'RateLimit-Reset': String(PAUSE_SECONDS) }),
  '429 with X-RateLimit-Reset': status(429, 'RateLimited', { 'X-RateLimit-Reset': String(PAUSE_SECONDS) }),
  '429 with Retry-After of an hour': status(429, 'RateLimited', { 'Retry-After': '3600' }),
  '503 with Retry-After': status(503, 'Unavailable', { 'Retry-After': String(PAUSE_SECONDS) }),
  'a success with RateLimit-Remaining 0': used('RateLimit-'),
  'a success with X-RateLimit-Remaining 0': used('X-RateLimit-'),
} as const satisfies Record<string, Cause>;

/** What goes wrong with connections, clocks and the content of answers. */
export const WIRE_FAULTS = {
  'no answer': request({ kind: 'hang' }),
  'half an answer': request({ kind: 'hang-mid-body' }),
  'an answer byte by byte, without end': request({ kind: 'trickle', pieces: 60, everyMs: 150 }),
  'an answer in slow pieces': request({ kind: 'trickle', pieces: 4, everyMs: 100 }),
  'a late answer': request({ kind: 'delay', delayMs: 300 }),
  'dropped at once': request({ kind: 'drop' }),
  'cut within the request': request({ kind: 'cut', afterBytes: 1 }),
  'cut within the answer': request({ kind: 'cut-answer', afterBytes: 10 }),
  'answered before it was read, then dropped': request({ kind: 'answer-then-drop' }),
  'carried out, then dropped': request({ kind: 'apply-then-drop' }),
  '200 with garbage': request({ kind: 'garbage' }),
  '200 with an empty object': request({ kind: 'body', body: {} }),
  '200 without uploadUrl': request({ kind: 'missing-upload-url' }),
  'nobody listens': { kind: 'dead' },
  'an unknown certificate authority': { kind: 'unknown-authority' },
  'a redirect to elsewhere': { kind: 'redirect' },
  'an expired signature': { kind: 'expired' },
  "the platform's clock a day ahead": { kind: 'skew', aheadMs: DAY_MS },
  "the platform's clock a day behind": { kind: 'skew', aheadMs: -DAY_MS },
} as const satisfies Record<string, Cause>;

/**
 * How far the clock of a daemon goes in one turn, milliseconds, while a fault strikes: what is asked and written takes
 * real time, of which a busy machine takes a lot. Only where a pause was asked for is there much to skip.
 */
export function stepMsFor(fault: FaultName): number {
  return fault in WIRE_FAULTS || SLOW.has(fault) || LATE.has(fault) ? 1 : 20;
}

/** All faults. */
export const FAULTS = { ...STATUS_FAULTS, ...PATIENCE_FAULTS, ...WIRE_FAULTS };

/** The name of a fault. */
export type FaultName = keyof typeof FAULTS;

/** Faults that are noticed as a stall, by real time: with them little patience is had. */
export const SLOW: ReadonlySet<FaultName> = new Set<FaultName>([
  'no answer',
  'half an answer',
  'an answer byte by byte, without end',
]);

/** Faults that take some real time, and are none. */
const LATE: ReadonlySet<FaultName> = new Set<FaultName>(['a late answer', 'an answer in slow pieces']);

/** What about a fault differs from the usual in the world that it strikes. */
export const SETTINGS: Partial<
  Record<FaultName, { readonly sizeBytes?: number; readonly rules?: object[] }>
> = {
  // Less would be in the kernel's hands before the early answer is there.
  'answered before it was read, then dropped': { sizeBytes: 32_000_000 },
  "the platform's clock a day ahead": { rules: [{ match: '**', expiresIn: '12h' }] },
  "the platform's clock a day behind": { rules: [{ match: '**', expiresIn: '90d' }] },
};
