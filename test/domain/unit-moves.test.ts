import { describe, expect, test } from 'vitest';
import { isToTake, whyUntaken, type TakeFacts } from '../../src/domain/unit.ts';

const LEASE = 10_000;
const COURTESY = 7500;

describe('a unit is taken', () => {
  test.each<[string, Pick<TakeFacts, 'holder' | 'stillMs' | 'isAssigned'>, boolean]>([
    ['at once if it is free and ours', { holder: 'nobody', stillMs: 0, isAssigned: true }, true],
    ['not yet if it is another’s', { holder: 'nobody', stillMs: COURTESY - 1, isAssigned: false }, false],
    ['if the other one does not take it', { holder: 'nobody', stillMs: COURTESY, isAssigned: false }, true],
    ['at once from ourselves', { holder: 'this-host', stillMs: 0, isAssigned: false }, true],
    ['not while it is proven', { holder: 'another-host', stillMs: LEASE - 1, isAssigned: true }, false],
    ['after a lease', { holder: 'another-host', stillMs: LEASE, isAssigned: true }, true],
    [
      'not from one that is silent, for another',
      { holder: 'another-host', stillMs: LEASE + COURTESY - 1, isAssigned: false },
      false,
    ],
    [
      'if the other one does not replace the silent one',
      { holder: 'another-host', stillMs: LEASE + COURTESY, isAssigned: false },
      true,
    ],
  ])('%s', (_, facts, expected) => {
    expect(isToTake({ ...facts, leaseMs: LEASE, courtesyMs: COURTESY })).toBe(expected);
  });
});

test.each([
  ['one would take it', [{ units: [7] }, { units: [3, 7] }], null],
  ['no host is up', [], 'no-host'],
  ['none has it', [{ units: [3] }, { units: [] }], 'no-taker'],
])('why no host could take a unit: %s', (_what, hosts, expected) => {
  expect(whyUntaken(7, hosts)).toBe(expected);
});
