import { expect, test } from 'vitest';
import { emptySummary } from '../../src/domain/report.ts';
import { describeDone } from '../../src/words/pass.ts';

test('removals that wait are not told as files that are kept', () => {
  const summary = { ...emptySummary(), unchanged: 2, kept: 1, toRemove: 3, durationMs: 300 };
  const words = '2 unchanged, 1 kept on the platform (no longer synced), 3 removals waiting (0.3 s)';
  expect(describeDone(summary, false)).toBe(words);
  expect(describeDone({ ...emptySummary(), removed: 1, toRemove: 1 }, true)).toBe(
    '1 to remove, 1 removal waiting (0.0 s)',
  );
});
