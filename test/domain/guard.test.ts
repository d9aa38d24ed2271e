import { describeRemovals } from '../../src/words/halt.ts';
import { describe, expect, test } from 'vitest';
import { EXIT, exitCodeOf } from '../../src/domain/exit-code.ts';
import {
  approvedUntil,
  guardRemovals,
  haltDigest,
  isApproved,
  REMOVAL_WINDOW_MS,
  type Approved,
  type Halt,
} from '../../src/domain/guard.ts';
import { emptySummary } from '../../src/domain/report.ts';

describe('removals', () => {
  const limits = { maxCount: 100, maxFraction: 0.5 };
  const rows: readonly (readonly [
    wanted: number,
    recent: number,
    recorded: number,
    halted: RegExp | null,
  ])[] = [
    [0, 0, 0, null],
    [1, 0, 1, null],
    // maxCount
    [100, 0, 1_000, null],
    [
      101,
      0,
      1_000,
      /^101 of 1000 files would be removed within an hour, more than removals\.maxCount \(100\)$/u,
    ],
    [1, 99, 1_000, null],
    [
      1,
      100,
      1_000,
      /^100 of 1000 files were removed within an hour, and 1 more would be, more than removals\.maxCount \(100\)$/u,
    ],
    // Nothing wanted halts nothing
    [0, 500, 500, null],
    // A fraction is taken above ten
    [10, 0, 10, null],
    [5, 5, 10, null],
    [11, 0, 22, null],
    [
      11,
      0,
      21,
      /^11 of 21 files would be removed within an hour, more than removals\.maxFraction \(0\.5\)$/u,
    ],
    [1, 10, 22, null],
    [1, 10, 21, /maxFraction/u],
    [11, 0, 11, /maxFraction/u],
  ];
  test.each(rows)('%d due, %d lately, of %d', (wanted, recent, recorded, halted) => {
    const halt = guardRemovals(wanted, recent, recorded, limits);
    if (halted === null) expect(halt).toBeNull();
    else expect(halt && describeRemovals(halt)).toMatch(halted);
  });

  test('a fraction of 1 takes the whole, a count of 1 one', () => {
    expect(guardRemovals(50, 0, 50, { maxCount: 100, maxFraction: 1 })).toBeNull();
    expect(guardRemovals(1, 0, 50, { maxCount: 1, maxFraction: 1 })).toBeNull();
    expect(guardRemovals(2, 0, 50, { maxCount: 1, maxFraction: 1 })).not.toBeNull();
  });

  test('are counted over an hour', () => {
    expect(REMOVAL_WINDOW_MS).toBe(60 * 60 * 1000);
  });
});

describe('an approval', () => {
  const atStake = { count: 2, first: ['a', 'b'], digest: 'x' };
  const missing: Halt = { kind: 'missing', directory: '/d', fault: { kind: 'silent' } };
  const replaced: Halt = {
    ...{ kind: 'replaced', directory: '/d', identity: 'd', isKnown: true },
    ...{ found: 0, checked: 2, atStake },
  };
  const emptied: Halt = { kind: 'emptied', directory: '/d', identity: 'd', atStake };
  const unmounted = (...places: string[]): Halt => ({
    kind: 'mounts-changed',
    directory: '/d',
    mounts: places.map((place) => ({ place, isMounted: false })),
    atStake,
  });
  const excess = { kind: 'count', wanted: 2, recent: 0, recorded: 9, limit: 1 } as const;
  const removals: Halt = { kind: 'mass-removal', excess, noticedUntilMs: 5, atStake };
  test.each<[string, Halt, Approved, boolean]>([
    ['of what is missing is none', missing, missing, false],
    ['is for the directory that was looked at', replaced, replaced, true],
    ['is for no other directory', { ...replaced, identity: 'e' }, replaced, false],
    ['of a replaced directory is not for an emptied one', emptied, replaced, false],
    ['of an emptied directory is for that one', emptied, emptied, true],
    ['of an emptied directory is not for a replaced one', replaced, emptied, false],
    ['of a directory is not for a mount', unmounted(), emptied, false],
    ['of a mount is for that one', unmounted('a'), unmounted('a'), true],
    ['of two mounts is for one of them', unmounted('b'), unmounted('a', 'b'), true],
    ['of a mount is for no other besides', unmounted('a', 'b'), unmounted('a'), false],
    ['of a mount is not for a directory', replaced, unmounted('d'), false],
    ['of removals is for nothing else', emptied, removals, false],
    ['of removals lets no later halt through', removals, removals, false],
    ['of anything is for removals', removals, 'anything', true],
    ['of anything is not for what is missing', missing, 'anything', false],
    ['that nobody gave is for nothing', replaced, null, false],
  ])('%s', (_what, halt, approved, is) => {
    expect(isApproved(halt, approved)).toBe(is);
  });

  test.each<[string, Approved, number]>([
    ['those that the halt had noticed', removals, 5],
    ['whatever comes', 'anything', Infinity],
    ['none by another halt', emptied, -Infinity],
    ['none without one', null, -Infinity],
  ])('is for removals: %s', (_what, approved, untilMs) => {
    expect(approvedUntil(approved)).toBe(untilMs);
  });

  test('names one halt: another directory, mount or set of files is another halt, its moment and counts are not', () => {
    const others: Halt[] = [
      ...[missing, replaced, emptied, unmounted('a'), unmounted('a', 'b'), removals],
      { ...replaced, identity: 'e' },
      { ...removals, atStake: { ...atStake, digest: 'y' } },
    ];
    expect(new Set(others.map(haltDigest)).size).toBe(others.length);
    expect(haltDigest({ ...removals, excess: { ...excess, recorded: 8 }, noticedUntilMs: 9 })).toBe(
      haltDigest(removals),
    );
  });
});

describe('the exit code of a pass', () => {
  const fine = { interrupted: false, credentials: false, halted: false };
  const all = { interrupted: true, credentials: true, halted: true };
  const counts = (some: object): ReturnType<typeof emptySummary> => ({ ...emptySummary(), ...some });

  test.each([
    [130, { failed: 1 }, all],
    [4, { failed: 1 }, { ...all, interrupted: false }],
    [5, { failed: 1 }, { ...fine, halted: true }],
    [130, {}, { ...fine, interrupted: true }],
    [4, {}, { ...fine, credentials: true }],
    [5, {}, { ...fine, halted: true }],
    [3, { refused: 1 }, fine],
    [3, { failed: 1 }, fine],
    [3, { problems: 1 }, fine],
    [3, { pending: 1 }, fine],
    [0, {}, fine],
    [
      0,
      { uploaded: 1, renewed: 1, removed: 1, unchanged: 1, skipped: 1, kept: 1, bytes: 1, durationMs: 1 },
      fine,
    ],
  ])('is %d for %j with %j', (code, some, troubles) => {
    expect(exitCodeOf(counts(some), troubles)).toBe(code);
  });

  test('is 0 for nothing at all', () => {
    expect(new Set(Object.values(emptySummary()))).toEqual(new Set([0]));
    expect(exitCodeOf(emptySummary(), fine)).toBe(0);
  });

  test('are the contract', () => {
    expect(EXIT).toEqual({
      ok: 0,
      defect: 1,
      usage: 2,
      incomplete: 3,
      credentials: 4,
      halted: 5,
      busy: 6,
      interrupted: 130,
    });
  });
});
