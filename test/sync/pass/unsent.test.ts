import { expect, test } from 'vitest';
import type { Fingerprint } from '../../../src/domain/fingerprint.ts';
import { Unsent } from '../../../src/sync/pass/unsent.ts';

const fingerprint = (size: number): Fingerprint => `${size}:1:1:1` as Fingerprint;

test('of a hundred thousand each is known; with one more it may be any, also when some are sent', () => {
  const unsent = new Unsent();
  for (let i = 0; i < 100_000; i++) unsent.add('docs', `f${i}`, fingerprint(i));
  expect([unsent.mayHave(fingerprint(7)), unsent.mayHave(fingerprint(100_000))]).toEqual([true, false]);
  unsent.add('docs', 'one-more', fingerprint(100_000));
  unsent.forget('docs', 'f0');
  expect(unsent.mayHave(fingerprint(100_000))).toBe(true);
});
