import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide, type Candidate, type Decision } from '../../src/domain/decide.ts';
import type { FileRecord, RecordState } from '../../src/domain/record.ts';
import type { Expiry } from '../../src/domain/settings.ts';
import { DAY, fingerprint, HOUR, NOW, PLAIN, RECORD } from './fixture.ts';

const RENEWING: Expiry = { kind: 'in', lifetimeMs: DAY, renewal: { beforeMs: HOUR } };
const LET_EXPIRE: Expiry = { kind: 'in', lifetimeMs: DAY, renewal: null };
const FIXED: Expiry = { kind: 'at', atMs: NOW };

const file = (expiry: Expiry | null = null, isInDoubt = false): Candidate => ({
  isInDoubt,
  fingerprint: fingerprint(),
  resolved: { settings: { ...PLAIN, expiry }, digest: 'settings' },
});
const record = (some: Partial<FileRecord> = {}): FileRecord => ({ ...RECORD, ...some });
const written = (decision: Decision): string =>
  'reason' in decision ? `${decision.kind} ${decision.reason}` : decision.kind;

const touched = { fingerprint: fingerprint({ mtimeNs: 9n }) };
const resized = { fingerprint: fingerprint({ size: 9n }) };
const otherSettings = { settingsDigest: 'other' };
const racy = { trusted: false };
const expiring = (inMs: number): Partial<FileRecord> => ({ expiresAtMs: NOW + inMs });

describe('a pair of file and record', () => {
  const rows: readonly (readonly [
    record: Partial<FileRecord> | null,
    expiry: Expiry | null,
    decision: string,
  ])[] = [
    [null, null, 'send new'],
    // Synced
    [{}, null, 'none'],
    [touched, null, 'verify touched'],
    [{ fingerprint: fingerprint({ ctimeNs: 9n }) }, null, 'verify touched'],
    [{ fingerprint: fingerprint({ ino: 9n }) }, null, 'verify touched'],
    [resized, null, 'send changed'],
    [racy, null, 'verify written-recently'],
    [{ ...racy, ...touched }, null, 'verify touched'],
    [{ ...racy, ...resized }, null, 'send changed'],
    [otherSettings, null, 'send settings-changed'],
    [{ ...otherSettings, ...racy }, null, 'send settings-changed'],
    [{ ...otherSettings, ...touched }, null, 'send settings-changed'],
    [{ ...otherSettings, ...resized }, null, 'send changed'],
    [{ absence: 'removed' }, null, 'none'],
    [{ absence: 'kept' }, null, 'none'],
    // Synced, and it expires
    [expiring(HOUR + 1), RENEWING, 'none'],
    [expiring(HOUR), RENEWING, 'send renewal-due'],
    [expiring(-90 * DAY), RENEWING, 'send renewal-due'],
    [{ ...expiring(HOUR), ...touched }, RENEWING, 'send renewal-due'],
    [{ ...expiring(HOUR), ...racy }, RENEWING, 'send renewal-due'],
    [{ ...expiring(HOUR + 1), ...touched }, RENEWING, 'verify touched'],
    [{ ...expiring(HOUR + 1), ...racy }, RENEWING, 'verify written-recently'],
    [{ ...expiring(HOUR), ...otherSettings }, RENEWING, 'send settings-changed'],
    [{ ...expiring(HOUR), ...resized }, RENEWING, 'send changed'],
    [expiring(-1), LET_EXPIRE, 'none'],
    [expiring(-90 * DAY), LET_EXPIRE, 'none'],
    [{ ...expiring(-1), ...touched }, LET_EXPIRE, 'verify touched'],
    [{ ...expiring(-1), ...otherSettings }, LET_EXPIRE, 'send settings-changed'],
    [{ ...expiring(-1), ...resized }, LET_EXPIRE, 'send changed'],
    [expiring(-1), FIXED, 'none'],
    [{}, RENEWING, 'none'],
    // Refused
    [{ state: 'refused' }, null, 'hold'],
    [{ state: 'refused', ...racy }, null, 'send changed'],
    [{ state: 'refused', ...expiring(-1) }, RENEWING, 'hold'],
    [{ state: 'refused', ...touched }, null, 'send changed'],
    [{ state: 'refused', ...resized }, null, 'send changed'],
    [{ state: 'refused', ...otherSettings }, null, 'send settings-changed'],
    [{ state: 'refused', ...otherSettings, ...touched }, null, 'send settings-changed'],
    [{ state: 'removing', ...expiring(0) }, RENEWING, 'send new'],
    // What the platform holds is unknown or nothing: whatever else is the same
    ...(['sending', 'removing', 'failed'] as const).flatMap((state) => {
      const reason = { sending: 'interrupted', removing: 'returned', failed: 'failed-before' }[state];
      return [{}, touched, resized, otherSettings, racy, expiring(1)].map(
        (some) => [{ state, ...some }, RENEWING, `send ${reason}`] as const,
      );
    }),
  ];
  test.each(rows)('%j with %j: %s', (some, expiry, decision) => {
    const known = some && record(some);
    expect(written(decide(file(expiry), known, NOW, false))).toBe(decision);
    expect(written(decide(file(expiry), known, NOW, true))).toBe(known ? 'send forced' : 'send new');
  });

  const anyRecord: fc.Arbitrary<FileRecord> = fc
    .record({
      state: fc.constantFrom<RecordState>('sending', 'synced', 'failed', 'refused', 'removing'),
      size: fc.bigInt({ min: 0n, max: 6n }),
      mtimeNs: fc.bigInt({ min: 999n, max: 1_001n }),
      trusted: fc.boolean(),
      settingsDigest: fc.constantFrom('settings', 'other'),
      expiresAtMs: fc.option(fc.integer({ min: NOW - 2 * HOUR, max: NOW + 2 * HOUR })),
      absence: fc.constantFrom(null, 'removed', 'kept'),
    })
    .map(({ size, mtimeNs, ...some }) => record({ ...some, fingerprint: fingerprint({ size, mtimeNs }) }));
  const expiry = fc.constantFrom(null, RENEWING, LET_EXPIRE, FIXED);

  test('decides the same twice, and always sends what is forced', () => {
    fc.assert(
      fc.property(anyRecord, expiry, (known, one) => {
        expect(decide(file(one), known, NOW, false)).toEqual(decide(file(one), { ...known }, NOW, false));
        expect(decide(file(one), known, NOW, true).kind).toBe('send');
      }),
    );
  });

  test('leaves alone only what is certain to be in sync', () => {
    fc.assert(
      fc.property(anyRecord, expiry, (known, one) => {
        if (decide(file(one), known, NOW, false).kind !== 'none') return;
        const { state, trusted, settingsDigest } = known;
        expect({ state, trusted, settingsDigest, fingerprint: known.fingerprint }).toEqual({
          state: 'synced',
          trusted: true,
          settingsDigest: 'settings',
          fingerprint: fingerprint(),
        });
        if (one === RENEWING) expect(known.expiresAtMs ?? Infinity).toBeGreaterThan(NOW + HOUR);
      }),
    );
  });
});
