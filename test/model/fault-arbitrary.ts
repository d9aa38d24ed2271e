import fc from 'fast-check';
import type { Condition } from '../../src/emulator/conditions.ts';
import type { Fault } from '../../src/emulator/faults.ts';

const status = (
  operation: 'upsert' | 'upload' | 'get-file' | 'delete-file' | 'list-files' | 'update-file',
  code: number,
  more: Partial<Extract<Fault, { kind: 'status' }>> = {},
) => ({ operation, kind: 'status', status: code, ...more }) as const satisfies Fault;

/**
 * Faults that a client can tell from success. A store that answers 200 and keeps nothing is not among them, nor what
 * takes real time.
 */
const FAULTS: readonly Fault[] = [
  ...[400, 401, 402, 404, 409, 413, 500, 503].map((code) => status('upsert', code)),
  status('upsert', 403, { type: 'Forbidden' }),
  status('upsert', 403, { type: 'QuotaExceeded' }),
  status('upsert', 429, { headers: { 'retry-after': '20' } }),
  status('upsert', 500, { body: 'not JSON' }),
  { operation: 'upsert', kind: 'garbage' },
  { operation: 'upsert', kind: 'drop' },
  { operation: 'upsert', kind: 'apply-then-drop' },
  { operation: 'upsert', kind: 'missing-upload-url' },
  { operation: 'upsert', kind: 'body', body: {} },
  { operation: 'upsert', kind: 'cut', afterBytes: 10 },
  { operation: 'upsert', kind: 'redirect', location: '/elsewhere' },
  ...[400, 403, 404, 500, 503].map((code) => status('upload', code)),
  { operation: 'upload', kind: 'drop' },
  { operation: 'upload', kind: 'apply-then-drop' },
  { operation: 'upload', kind: 'cut', afterBytes: 1 },
  { operation: 'upload', kind: 'redirect', location: '/elsewhere' },
  ...(['get-file', 'delete-file', 'list-files', 'update-file'] as const).flatMap((operation): Fault[] => [
    ...[400, 401, 405, 409, 500, 503].map((code) => status(operation, code)),
    { operation, kind: 'garbage' },
    { operation, kind: 'drop' },
    { operation, kind: 'apply-then-drop' },
  ]),
];

/** Any of them, a few times over or often enough for an outage, at once or after some requests. */
export const fault: fc.Arbitrary<Fault> = fc
  .tuple(fc.constantFrom(...FAULTS), fc.constantFrom(1, 1, 2, 6, 40), fc.constantFrom(0, 0, 1, 3))
  .map(([one, times, after]) => ({ ...one, times, after }));

/** Files that come to another end than usual, and lists that do not show what is there. */
const FILE_CONDITIONS: readonly Condition[] = [
  ...[5000, 120_000, Infinity].map((lagMs): Condition => ({ kind: 'lagging-list', lagMs })),
  { kind: 'new-ids' },
  { kind: 'new-ids' },
  { kind: 'pending-again' },
  { kind: 'updates-reindex' },
  { kind: 'failing-indexing', keys: '**/*.md', reason: 'it could not be read' },
  { kind: 'failing-uploads', keys: '**/*.txt', reason: 'it was lost' },
  { kind: 'failing-uploads', keys: '**', reason: 'Quota exceeded' },
  ...[5000, 60_000, Infinity].map((delayMs): Condition => ({ kind: 'slow-notice', delayMs })),
];

/**
 * Outages, stores that read a few bytes at a time, and rate limits that a handful of files exceed. They last until the
 * faults end.
 */
export const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.constantFrom(...FILE_CONDITIONS),
  fc.constantFrom(...FILE_CONDITIONS),
  fc.constant<Condition>({ kind: 'refused' }),
  fc.constant<Condition>({ kind: 'unavailable' }),
  fc
    .constantFrom(200, 1000, 5000)
    .map((bytesPerSecond): Condition => ({ kind: 'slow-store', bytesPerSecond })),
  fc
    .tuple(
      fc.constantFrom(1, 3, 10),
      fc.constantFrom(1000, 10_000),
      fc.constantFrom('fixed', 'sliding'),
      fc.constantFrom('all', 'retry-after', 'nothing'),
    )
    .map(([requests, windowMs, window, tells]): Condition => ({
      kind: 'rate-limit',
      rateLimit: { requests, windowMs, window, tells },
    })),
);

/** Whether a fault refuses a file as it is, so that it is not tried again until it changes. */
export function isRefusal(one: Fault): boolean {
  if (one.operation !== 'upsert' && one.operation !== 'upload') return false;
  return one.kind === 'redirect' || (one.kind === 'status' && [400, 402, 404, 409, 413].includes(one.status));
}

/** Whether a fault has an operation taken for one that is not served, which is remembered for a day. */
export function isNotServed(one: Fault): boolean {
  return (
    one.kind === 'status' && one.status === 405 && one.operation !== 'upsert' && one.operation !== 'upload'
  );
}
