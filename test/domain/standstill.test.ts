import { expect, test } from 'vitest';
import { Standstill } from '../../src/domain/unit.ts';

test('counts by our own clock, from the moment that something changed', () => {
  const seen = new Standstill<string>();
  expect(seen.forMs('a', 50)).toBe(0);
  seen.note('a', '1', 100);
  seen.note('b', '1', 150);
  seen.note('a', '1', 300);
  expect([seen.forMs('a', 400), seen.forMs('b', 400)]).toEqual([300, 250]);
  seen.note('a', '2', 500);
  expect(seen.forMs('a', 500)).toBe(0);
  // Back to what it was is a change as well.
  seen.note('a', '1', 600);
  expect(seen.forMs('a', 650)).toBe(50);
});
