import { expect, test } from 'vitest';
import type { Explanation } from '../../src/domain/status.ts';
import { describeExplanation } from '../../src/words/explanation.ts';
import { describeFix } from '../../src/words/obstacle.ts';

const since = '2026-01-01T12:00:00.000Z';
const explained = (state: string): Explanation => ({
  ...{ source: 'docs', path: 'a.md', key: 'docs/a.md', botId: 'bot-1', rules: [], upsert: null, fix: null },
  record: {
    ...{ state, sha256: null, expiresAt: null, failure: null, changedAt: since, differs: null },
    platform: { verdict: 'stored', sentAt: since, askedAt: since, nextAskAt: null },
  },
  ...{ action: 'keep', reason: 'the file was deleted here, and is kept on the platform' },
});

test.each([
  ['synced', 'synced'],
  ['synced, removed', 'synced; deleted here'],
  ['failed, kept', 'failed; no longer synced, and kept on the platform'],
  ['removing, removed', 'being removed from the platform; deleted here'],
])('a record that is %j is told in words', (state, words) => {
  expect(describeExplanation(explained(state), false)).toContain(`Record:  ${words}, since ${since}`);
});

test('a refused file has what would get it accepted', () => {
  const fix = describeFix({ kind: 'too-large', sizeBytes: 3_000_000, limitBytes: 2_000_000 });
  const refused: Explanation = { ...explained('refused'), action: 'refuse', reason: 'too large', fix };
  expect(describeExplanation(refused, false).at(-1)).toBe(
    'Fix:     raise limits.fileBytes to 3000000 or more, split the file, or ignore it',
  );
});
