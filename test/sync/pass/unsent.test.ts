import { expect, test } from 'vitest';
import type { Fingerprint } from '../../../src/domain/fingerprint.ts';
import { Unsent } from '../../../src/sync/pass/unsent.ts';

const fingerprint = (size: number): Fingerprint => `${size}:1:1:1` as Fingerprint;

test('of a hundred thousand each is known; with one more it may be any, also when some are sent', () => {
  const unsent = new Unsent();
  for (let i = 0; i < 100_000; i++) unsent.add('docs', `f${i}`, fingerprint(i));
  expect([unsent.mayHave(fingerprint(7), 0), unsent.mayHave(fingerprint(100_000), 0)]).toEqual([true, false]);
  unsent.add('docs', 'one-more', fingerprint(100_000));
  unsent.forget('docs', 'f0');
  expect(unsent.mayHave(fingerprint(100_000), 0)).toBe(true);
});

test('one that vanished counts for a while', () => {
  const unsent = new Unsent();
  unsent.addVanished(fingerprint(7), 1000);
  expect([999, 1000].map((nowMs) => unsent.mayHave(fingerprint(7), nowMs))).toEqual([true, false]);
  expect(unsent.mayHave(fingerprint(8), 0)).toBe(false);
  for (let i = 0; i < 100_000; i++) unsent.addVanished(fingerprint(1000 + i), 5000);
  // Of too many the oldest are forgotten, and nothing else changes.
  expect([7, 8, 1000].map((size) => unsent.mayHave(fingerprint(size), 0))).toEqual([false, false, true]);
});
