import { expect, onTestFinished, test } from 'vitest';
import { WorkingCopy } from '../../src/store/working-copy.ts';

test.each([
  [{ files: '[null]' }, 'of a file ('],
  [{ files: '["nonsense"]' }, 'of a file ('],
  [{ files: '[{ "target": 1, "key": "a.md" }]' }, 'of the file a.md (NOT NULL constraint failed'],
  [{ files: '[{ "target": 1, "key": "a.md", "size": {} }]' }, 'of the file a.md ('],
  [{ entries: '[null]' }, 'an entry (it names no table, or has no row)'],
  [{ entries: '["nonsense"]' }, 'an entry (it names no table, or has no row)'],
  [{ entries: '[{ "tbl": "pass", "key": "[1]" }]' }, 'an entry (it names no table, or has no row)'],
  [
    { entries: '[{ "tbl": "pass", "key": "[1]", "body": "[]" }]' },
    'an entry (it names no table, or has no row)',
  ],
  [{ entries: '[{ "tbl": "pass", "key": "[1]", "body": { "number": "x" } }]' }, 'an entry of "pass" ('],
])('a row that is none of ours is not taken over, and named: %j', (page, words) => {
  const copy = new WorkingCopy(':memory:');
  onTestFinished(() => {
    copy.close();
  });
  copy.loadTargets([{ id: 1, baseUrl: 'http://127.0.0.1:9', botId: 'bot-1', identity: '{}' }]);
  const load = (): void => {
    copy.load({ files: '[]', entries: '[]', ...page });
  };
  expect(load).toThrow(
    expect.objectContaining({
      name: 'UnreadableRowError',
      message: expect.stringContaining(words) as string,
    }),
  );
});
