import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  askAfterMs,
  GONE,
  isOverdueInLists,
  LONGEST_ASK_MS,
  NOT_LISTED,
  stepAfter,
  wordOf,
  type SentFile,
  type Word,
} from '../../src/domain/confirmation.ts';
import type { CatalogFile } from '../../src/domain/file-catalog.ts';
import { markOf } from '../../src/domain/mark.ts';
import { DAY, HOUR, MINUTE, NOW, SECOND } from './fixture.ts';

const SHA256 = Buffer.alloc(32, 7);
const SENT: SentFile = { sizeBytes: 3, sha256: SHA256, sentAtMs: NOW, losses: 0 };
const PENDING: Word = { kind: 'pending', said: 'indexing_pending' };

function answer(fields: Partial<CatalogFile>): CatalogFile {
  return {
    id: 'file_1',
    key: 'a.md',
    sizeBytes: 3,
    status: null,
    failedReason: null,
    contentType: null,
    tags: {},
    metadata: {},
    accessPolicies: [],
    index: null,
    expiresAtMs: null,
    ownerType: null,
    url: null,
    ...fields,
  };
}

describe('what the platform says', () => {
  test.each([
    ['upload_pending', true, 'pending'],
    ['upload_pending', false, 'pending'],
    ['upload_completed', true, 'pending'],
    ['upload_completed', false, 'stored'],
    ['indexing_pending', true, 'pending'],
    ['indexing_in_progress', true, 'pending'],
    ['indexing_completed', true, 'searchable'],
    ['indexing_completed', false, 'stored'],
    ['indexing_failed', true, 'unsearchable'],
    ['indexing_failed', false, 'stored'],
    ['upload_failed', true, 'lost'],
    ['upload_failed', false, 'lost'],
    ['something_new', true, 'pending'],
    [null, false, 'pending'],
  ])('%s of a file with index %s means %s', (status, isIndexed, means) => {
    const word = wordOf(answer({ status }), SENT, isIndexed);
    expect(word.kind === 'final' ? word.verdict : word.kind).toBe(means);
  });

  test('goes by the answer where it is unknown any more whether it was to be indexed', () => {
    const file = answer({ status: 'upload_completed' });
    expect(wordOf({ ...file, index: true }, SENT, null).kind).toBe('pending');
    expect(wordOf({ ...file, index: false }, SENT, null).kind).toBe('final');
  });

  test.each([
    ['another size', { sizeBytes: 4 }],
    ['no size', { sizeBytes: null }],
    ['the mark of another content', { metadata: { botsync: markOf(Buffer.alloc(32, 8), 'docs') } }],
  ])('counts for nothing with %s: the answer is about what was there before', (_what, fields) => {
    for (const status of ['indexing_completed', 'indexing_failed'])
      expect(wordOf(answer({ status, ...fields }), SENT, true).kind).toBe('pending');
  });

  test('counts with our mark, and with none', () => {
    const marked = answer({ status: 'indexing_completed', metadata: { botsync: markOf(SHA256, 'docs') } });
    expect(wordOf(marked, SENT, true).kind).toBe('final');
    expect(wordOf({ ...marked, metadata: {} }, SENT, true).kind).toBe('final');
  });

  test.each([
    ['The File Storage quota has been exceeded', 'quota'],
    ['A file is at most 1000000000 bytes', 'size'],
    ['Files larger than 95000000 bytes cannot be indexed', 'size'],
    ['The file is too large', 'size'],
    ['It exceeds the size limit', 'size'],
    ['The maximum file size is 1 GB', 'size'],
    ['Checksum mismatch', 'other'],
    [null, 'other'],
  ])('an upload_failed for "%s" is a matter of %s', (failedReason, cause) => {
    const word = wordOf(answer({ status: 'upload_failed', sizeBytes: null, failedReason }), SENT, true);
    expect(word).toMatchObject({ kind: 'lost', cause });
  });
});

describe('what follows', () => {
  const LOST: Word = { kind: 'lost', said: 'upload_failed', reason: 'lost', cause: 'other' };

  test('the end of the questions, with the verdict', () => {
    const final: Word = { kind: 'final', verdict: 'searchable', said: 'indexing_completed' };
    expect(stepAfter(final, SENT, 5, NOW)).toEqual({ kind: 'settle', verdict: 'searchable' });
    const failed: Word = { kind: 'unsearchable', said: 'indexing_failed', reason: 'empty' };
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
    const unseen: Word = { kind: 'pending', said: 'upload_pending' };
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
