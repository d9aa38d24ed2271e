import { expect, test } from 'vitest';
import type { Explanation } from '../../src/domain/status.ts';
import { describeExplanation } from '../../src/words/explanation.ts';

const since = '2026-01-01T12:00:00.000Z';
const explained = (state: string): Explanation => ({
  ...{ source: 'docs', path: 'a.md', key: 'docs/a.md', botId: 'bot-1', rules: [], upsert: null },
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
