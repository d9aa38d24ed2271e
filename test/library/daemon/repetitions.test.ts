import { expect, test } from 'vitest';
import { Repetitions } from '../../../src/library/daemon/repetitions.ts';
import { emptySummary } from '../../../src/domain/report.ts';

const REASON = '401 Unauthorized: The access token is missing or invalid';

test('a file that fails for what was told of everything is not told again', () => {
  const repetitions = new Repetitions();
  expect(repetitions.isToldFailure(REASON)).toBe(false);
  repetitions.refused('credentials', REASON);
  expect(repetitions.isToldFailure(REASON)).toBe(true);
  expect(repetitions.isToldFailure('400 InvalidPayload')).toBe(false);
  expect(repetitions.isToldFailure(undefined)).toBe(false);
  repetitions.refused('credentials', null);
  expect(repetitions.isToldFailure(REASON)).toBe(false);
});

test('a pass that comes to the same is told again only when nothing is refused, or something changed', () => {
  const repetitions = new Repetitions();
  const summary = { ...emptySummary(), failed: 1 };
  expect(repetitions.isToldPass({ ...summary, durationMs: 5 })).toBe(false);
  expect(repetitions.isToldPass({ ...summary, durationMs: 6 })).toBe(false);
  repetitions.refused('quota', '402');
  expect(repetitions.isToldPass({ ...summary, durationMs: 7 })).toBe(true);
  expect(repetitions.isToldPass({ ...summary, failed: 2 })).toBe(false);
});
