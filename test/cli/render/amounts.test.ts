import { expect, test } from 'vitest';
import { clockText, countText, durationText } from '../../../src/service/amounts.ts';
import { cutEnd, cutStart, wrapWords } from '../../../src/cli/render/text-layout.ts';

test.each([
  [0, '0.0 s'],
  [449, '0.4 s'],
  [9_940, '9.9 s'],
  [9_960, '10 s'],
  [59_600, '1 min'],
  [125_000, '2 min 5 s'],
  [3_599_700, '1 h'],
  [4_800_000, '1 h 20 min'],
])('%i ms took %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test.each([
  [7_200, '0:08'],
  [80_000, '1:20'],
  [7_500_000, '2:05:00'],
])('%i ms left: %s', (ms, text) => {
  expect(clockText(ms)).toBe(text);
});

test('counts have the right number', () => {
  expect([countText(1, 'file'), countText(1200, 'file')]).toEqual(['1 file', '1,200 files']);
});

test('texts are cut by the columns that they take', () => {
  expect(cutEnd('docs/a.md', 9)).toBe('docs/a.md');
  expect(cutEnd('docs/a.md', 5)).toBe('docs…');
  expect(cutStart('docs/a.md', 5)).toBe('…a.md');
  expect(cutEnd('视频视频', 5)).toBe('视频…');
});

test('a message is broken between words, and nothing of it is lost', () => {
  const message = 'Stopping: running transfers may finish. Press Ctrl-C again to stop at once.';
  const lines = wrapWords(message, 20).split('\n');
  expect(lines.join(' ')).toBe(message);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(20);
});
