import { expect, test } from 'vitest';
import { obstacleSchema, type Obstacle } from '../../src/domain/obstacle.ts';
import { describeFailure, describeObstacle } from '../../src/words/obstacle.ts';

const replaced = (isAsked: boolean): Obstacle => ({
  kind: 'replaced-before-removal',
  isAsked,
  sign: { kind: 'other-size', foundBytes: 7, sentBytes: 5 },
});

test.each<[Obstacle, string]>([
  [
    { kind: 'too-large', sizeBytes: 5001, limitBytes: 5000 },
    '5,001 bytes are more than limits.fileBytes (5,000)',
  ],
  [
    { kind: 'too-large-to-index', sizeBytes: 1001, limitBytes: 1000, isSkipped: true },
    'too large to index: 1,001 bytes are more than limits.indexBytes (1,000)',
  ],
  [
    { kind: 'too-large-to-index', sizeBytes: 1001, limitBytes: 1000, isSkipped: false },
    'too large to index: 1,001 bytes are more than limits.indexBytes (1,000); set "whenTooLargeToIndex" in a rule: "upload-without-index" or "skip"',
  ],
  [
    { kind: 'expiry-past', expiresAt: '2026-03-01T12:00:00.000Z' },
    'expiresAt 2026-03-01T12:00:00.000Z is not in the future',
  ],
  [{ kind: 'unreadable', code: 'EACCES' }, 'cannot be read: EACCES'],
  [
    { kind: 'key-taken', source: 'docs', path: 'a' },
    'has the same key as docs/a, which is sent; rename one of them',
  ],
  [
    replaced(false),
    'deleted here, but left alone on the platform: somebody else replaced it (it has 7 bytes instead of 5)',
  ],
  [replaced(true), 'left alone on the platform: somebody else replaced it (it has 7 bytes instead of 5)'],
  [{ kind: 'waiting', cause: { kind: 'platform', message: '401' } }, 'changed, and not sent yet: 401'],
  [{ kind: 'waiting', cause: { kind: 'stopped' } }, 'changed, and not sent yet: it was stopped'],
])('%j', (obstacle, sentence) => {
  expect(describeObstacle(obstacle)).toBe(sentence);
  expect(obstacleSchema.parse(JSON.parse(JSON.stringify(obstacle)))).toEqual(obstacle);
});

test('a failed removal says so', () => {
  expect(describeFailure({ state: 'removing', failure: '503' })).toBe('cannot be removed: 503');
  expect(describeFailure({ state: 'failed', failure: '503' })).toBe('503');
  expect(describeFailure({ state: 'removing', failure: null })).toBeNull();
});
