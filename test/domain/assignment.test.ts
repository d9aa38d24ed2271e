import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bestHost, type Candidate } from '../../src/domain/assignment.ts';
import { SEED } from '../seed.ts';

const UNITS = Array.from({ length: 2000 }, (_, i) => `unit ${i}`);
const host = (name: string, weight = 1): Candidate => ({ host: name, weight });

/** How many of the units each host is to have, as parts of all. */
function parts(candidates: readonly Candidate[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const unit of UNITS) {
    const best = bestHost(unit, candidates) ?? 'none';
    counts[best] = (counts[best] ?? 0) + 1 / UNITS.length;
  }
  return counts;
}

const candidates = fc.uniqueArray(
  fc.record({ host: fc.string({ minLength: 1, maxLength: 5 }), weight: fc.integer({ min: 0, max: 5 }) }),
  { selector: ({ host: name }) => name, maxLength: 6 },
);

describe('the host of a unit', () => {
  test('is none where nobody may have it', () => {
    expect(bestHost('u', [])).toBeNull();
    expect(bestHost('u', [host('a', 0)])).toBeNull();
    expect(bestHost('u', [host('a', 0), host('b', 0.1)])).toBe('b');
  });

  test('is drawn by weight', () => {
    const { a = 0, b = 0, c = 0 } = parts([host('a'), host('b'), host('c', 2)]);
    expect(a).toBeCloseTo(0.25, 1);
    expect(b).toBeCloseTo(0.25, 1);
    expect(c).toBeCloseTo(0.5, 1);
  });

  test('is the same whatever the order in which hosts are known', () => {
    fc.assert(
      fc.property(candidates, fc.string(), (known, unit) => {
        expect(bestHost(unit, [...known].reverse())).toBe(bestHost(unit, known));
      }),
      { seed: SEED },
    );
  });

  test('changes only from a host that goes or weighs less, and only to one that comes or weighs more', () => {
    fc.assert(
      fc.property(candidates, fc.string(), fc.nat(5), fc.nat(5), (known, unit, which, weight) => {
        const changed = known[which % Math.max(1, known.length)];
        if (changed === undefined) return;
        const before = bestHost(unit, known);
        const after = bestHost(
          unit,
          known.map((one) => (one === changed ? { ...one, weight } : one)),
        );
        if (before === after) return;
        if (weight < changed.weight) expect(before).toBe(changed.host);
        else expect(after).toBe(changed.host);
      }),
      { seed: SEED },
    );
  });
});
