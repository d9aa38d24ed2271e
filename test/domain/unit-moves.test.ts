import { describe, expect, test } from 'vitest';
import {
  disagree,
  isToMove,
  isToTake,
  whyUntaken,
  type MoveFacts,
  type TakeFacts,
} from '../../src/domain/unit-moves.ts';

const LEASE = 10_000;
const COURTESY = 7500;

describe('a unit is taken', () => {
  test.each<[string, Pick<TakeFacts, 'holder' | 'stillMs' | 'isBest'>, boolean]>([
    ['at once if it is free and ours', { holder: 'nobody', stillMs: 0, isBest: true }, true],
    ['not yet if it is another’s', { holder: 'nobody', stillMs: COURTESY - 1, isBest: false }, false],
    ['if the other one does not take it', { holder: 'nobody', stillMs: COURTESY, isBest: false }, true],
    ['at once from ourselves', { holder: 'this-host', stillMs: 0, isBest: false }, true],
    ['not while it is proven', { holder: 'another-host', stillMs: LEASE - 1, isBest: true }, false],
    ['after a lease', { holder: 'another-host', stillMs: LEASE, isBest: true }, true],
    ['after a lease by who has its records', { holder: 'forgotten', stillMs: LEASE, isBest: true }, true],
    ['not by others then', { holder: 'forgotten', stillMs: 2 * LEASE - 1, isBest: false }, false],
    ['by these after two', { holder: 'forgotten', stillMs: 2 * LEASE, isBest: false }, true],
    [
      'not from one that is silent, for another',
      { holder: 'another-host', stillMs: LEASE + COURTESY - 1, isBest: false },
      false,
    ],
    [
      'if the other one does not replace the silent one',
      { holder: 'another-host', stillMs: LEASE + COURTESY, isBest: false },
      true,
    ],
  ])('%s', (_, facts, expected) => {
    expect(isToTake({ ...facts, leaseMs: LEASE, courtesyMs: COURTESY })).toBe(expected);
  });
});

describe('a unit is let go of for a better host', () => {
  const better: MoveFacts = { unchangedMs: 60_000, isBest: false, canOthersTake: true, isQuiet: true };

  test.each<[string, Partial<MoveFacts>, boolean]>([
    ['after a minute without changes', {}, true],
    ['not before', { unchangedMs: 59_999 }, false],
    ['not by the best', { isBest: true }, false],
    ['not if nobody could take it', { canOthersTake: false }, false],
    ['not while something is under way', { isQuiet: false }, false],
  ])('%s', (_, facts, expected) => {
    expect(isToMove({ ...better, ...facts })).toBe(expected);
  });
});

test.each([
  [
    'one that may take it sees it',
    [
      { units: [7], weight: 0 },
      { units: [3, 7], weight: 1 },
    ],
    null,
  ],
  ['no host is up', [], 'no-host'],
  [
    'none sees it',
    [
      { units: [3], weight: 1 },
      { units: [], weight: 1 },
    ],
    'unseen',
  ],
  [
    'none that sees it has a weight',
    [
      { units: [7], weight: 0 },
      { units: [3], weight: 1 },
    ],
    'no-weight',
  ],
])('why no host could take a unit: %s', (_what, hosts, expected) => {
  expect(whyUntaken(7, hosts)).toBe(expected);
});

test('configurations that differ matter to hosts that may sync the same files only', () => {
  const [one, other] = [
    { units: [1, 2], digest: 'a' },
    { units: [2, 3], digest: 'b' },
  ];
  expect(disagree(one, other)).toBe(true);
  expect(disagree(one, { ...other, digest: 'a' })).toBe(false);
  expect(disagree(one, { ...other, units: [3] })).toBe(false);
});
