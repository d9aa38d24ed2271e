import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { askAfterMs, isOverdueInLists, LONGEST_ASK_MS, stepAfter } from '../../src/domain/confirmation.ts';
import { GONE, NOT_LISTED, type PlatformStatus } from '../../src/domain/platform-status.ts';
import { DAY, HOUR, MINUTE, NOW, SECOND } from './fixture.ts';

const SENT = { sentAtMs: NOW, losses: 0 };
const PENDING: PlatformStatus = { kind: 'pending', said: 'indexing_pending' };

describe('what follows', () => {
  const LOST: PlatformStatus = { kind: 'lost', said: 'upload_failed', reason: 'lost', cause: 'other' };

  test('the end of the questions, with the verdict', () => {
    const final: PlatformStatus = { kind: 'final', verdict: 'searchable', said: 'indexing_completed' };
    expect(stepAfter(final, SENT, 5, NOW)).toEqual({ kind: 'settle', verdict: 'searchable' });
    const failed: PlatformStatus = {
      kind: 'unsearchable',
      said: 'indexing_failed',
      reason: 'could not be indexed: empty',
    };
    expect(stepAfter(failed, SENT, 5, NOW)).toEqual({
      kind: 'settle',
      verdict: 'unsearchable',
      reason: 'could not be indexed: empty',
    });
  });

  test.each([
    [0, 5, 5 * SECOND],
    [1, 5, 10 * SECOND],
    [3, 5, 40 * SECOND],
    [4, 5, null],
    [9, 5, null],
    [0, 1, null],
    [90, 100, 15 * MINUTE],
  ])('after %i losses, with %i attempts: sent again in %s ms', (losses, attempts, resendAfterMs) => {
    for (const word of [LOST, GONE])
      expect(stepAfter(word, { ...SENT, losses }, attempts, NOW)).toMatchObject({
        kind: 'lose',
        state: 'failed',
        isForWantOfRoom: false,
        resendAfterMs,
      });
  });

  test('a quota waits as every quota does, and what is too large is refused', () => {
    expect(stepAfter({ ...LOST, cause: 'quota' }, SENT, 5, NOW)).toMatchObject({
      state: 'failed',
      isForWantOfRoom: true,
      resendAfterMs: null,
    });
    expect(stepAfter({ ...LOST, cause: 'size' }, SENT, 5, NOW)).toMatchObject({
      state: 'refused',
      isForWantOfRoom: false,
      resendAfterMs: null,
    });
  });

  test('content that is not seen for ten minutes is sent once more, and then has failed', () => {
    const unseen: PlatformStatus = { kind: 'unregistered', said: 'upload_pending' };
    expect(stepAfter(unseen, SENT, 5, NOW + 10 * MINUTE - 1).kind).toBe('ask');
    expect(stepAfter(unseen, SENT, 5, NOW + 10 * MINUTE)).toMatchObject({
      kind: 'lose',
      resendAfterMs: 5 * SECOND,
    });
    expect(stepAfter(unseen, { ...SENT, losses: 1 }, 5, NOW + 10 * MINUTE)).toMatchObject({
      kind: 'lose',
      resendAfterMs: null,
    });
    expect(stepAfter(PENDING, SENT, 5, NOW + 10 * MINUTE).kind).toBe('ask');
  });

  test('after a day without an end something is wrong, and it is asked on', () => {
    expect(stepAfter(PENDING, SENT, 5, NOW + DAY - 1)).toMatchObject({ kind: 'ask', trouble: null });
    const after = stepAfter(NOT_LISTED, SENT, 5, NOW + DAY);
    expect(after).toMatchObject({ kind: 'ask', afterMs: LONGEST_ASK_MS });
    expect(JSON.stringify(after)).toContain('not listed');
  });
});

describe('when it is asked again', () => {
  test.each([
    [0, SECOND],
    [SECOND, SECOND],
    [2 * SECOND, SECOND],
    [10 * SECOND, 5 * SECOND],
    [MINUTE, 30 * SECOND],
    [30 * MINUTE, 15 * MINUTE],
    [DAY, 15 * MINUTE],
    [-HOUR, MINUTE],
  ])('at an age of %i ms: after %i ms', (ageMs, afterMs) => {
    expect(askAfterMs(ageMs)).toBe(afterMs);
  });

  test('never sooner than before, never after more than half its age, and in whole milliseconds', () => {
    fc.assert(
      fc.property(fc.nat(2 * DAY), fc.nat(1000), (ageMs, moreMs) => {
        const afterMs = askAfterMs(ageMs);
        expect(Number.isInteger(afterMs)).toBe(true);
        expect(askAfterMs(ageMs + moreMs)).toBeGreaterThanOrEqual(afterMs);
        expect(afterMs).toBeLessThanOrEqual(Math.max(SECOND, ageMs / 2 + 1));
      }),
    );
  });

  test('a file that is not listed is asked for by itself after a minute', () => {
    expect(isOverdueInLists(SENT, NOW + MINUTE - 1)).toBe(false);
    expect(isOverdueInLists(SENT, NOW + MINUTE)).toBe(true);
  });
});
