import { expect, test } from 'vitest';
import { statusFrame } from '../../../src/cli/status/terminal-status.ts';
import { widthOf } from '../../../src/cli/render/text-layout.ts';

const lines = [
  'NOT IN SYNC',
  '',
  'docs: 1,204 files in sync, 31 MB (1,204 searchable); 2 failed',
  '',
  'Not in sync:',
  '  docs/a/path/that/is/rather/long.md: failed: 503 Unavailable; retried in 4 min',
];
const text = { head: '13:07:13, every 2 s; q quits', lines };

test('with room for all of it nothing is cut', () => {
  expect(statusFrame(text, { columns: 120, rows: 24 })).toEqual([text.head, '', ...lines]);
});

test('a narrow terminal has more rows, a low one fewer: empty rows go first, then the end is counted', () => {
  expect(statusFrame(text, { columns: 40, rows: 24 })).toEqual([
    text.head,
    '',
    'NOT IN SYNC',
    '',
    'docs: 1,204 files in sync, 31 MB (1,204',
    '  searchable); 2 failed',
    '',
    'Not in sync:',
    '  docs/a/path/that/is/rather/long.md:',
    '    failed: 503 Unavailable; retried in',
    '    4 min',
  ]);
  expect(statusFrame(text, { columns: 120, rows: 6 })).toEqual([
    text.head,
    '',
    'NOT IN SYNC',
    lines[2],
    'Not in sync:',
    lines[5],
  ]);
  expect(statusFrame(text, { columns: 40, rows: 6 }).slice(2)).toEqual([
    'NOT IN SYNC',
    'docs: 1,204 files in sync, 31 MB (1,204',
    '  searchable); 2 failed',
    '… 4 more lines',
  ]);
  expect(statusFrame(text, { columns: 120, rows: 3 })).toEqual(['NOT IN SYNC', lines[2], '… 2 more lines']);
  expect(statusFrame(text, { columns: 120, rows: 1 })).toEqual(['NOT IN SYNC']);
});

test('it fits every terminal', () => {
  for (let columns = 1; columns <= 210; columns += 19)
    for (let rows = 1; rows <= 30; rows += 1) {
      const frame = statusFrame(text, { columns, rows });
      expect(frame.length).toBeLessThanOrEqual(rows);
      for (const row of frame) expect(widthOf(row)).toBeLessThanOrEqual(Math.max(1, columns - 1));
    }
});
