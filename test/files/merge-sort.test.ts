import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeSort } from '../../src/files/listing.ts';

/** What is sorted, and how often the caller got its turn. */
function sorted(blocks: number[][], stepEntries: number): { list: number[]; turns: number } {
  const sorting = mergeSort(blocks, (a, b) => a - b, stepEntries);
  for (let turns = 0; ; turns++) {
    const step = sorting.next();
    if (step.done === true) return { list: step.value, turns };
  }
}

test('the list is that of a sort, for any blocks', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 8 }), { maxLength: 9 }),
      (blocks) => {
        const expected = blocks.flat().sort((a, b) => a - b);
        expect(sorted(blocks, 3).list).toEqual(expected);
      },
    ),
  );
});

test('never more than a step of entries is moved without a turn', () => {
  const blocks = Array.from({ length: 64 }, (_, n) => Array.from({ length: 100 }, (_, m) => m * 64 + n));
  // Each block once, and every entry as often as runs are doubled.
  expect(sorted(blocks, 100).turns).toBe(64 + 6 * 64);
});
