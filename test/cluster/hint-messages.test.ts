import { expect, test } from 'vitest';
import { decodeHint, encodeHint, type HintAddress } from '../../src/cluster/hint-messages.ts';
import type { Hint, HintedPath } from '../../src/domain/hint.ts';

const ADDRESS: HintAddress = { schema: 'botsync', host: 'web2', unit: 7, source: 'docs' };

/** PostgreSQL refuses 8,000 bytes. */
const LARGEST_BYTES = 7999;

const ALL: readonly HintedPath[] = [
  { path: 'a.md', look: { kind: 'file', sizeBytes: 12n, mtimeNs: 1_750_000_000_123_456_789n } },
  { path: 'deep/er/b "quoted" \\ \n\u0001 é 漢字 💾.md', look: { kind: 'absent' } },
  { path: 'link', look: { kind: 'link', sizeBytes: 0n, mtimeNs: -1n } },
  { path: 'directory', look: { kind: 'directory', mtimeNs: 9_223_372_036_854_775_807n } },
  { path: 'socket', look: { kind: 'other' } },
  { path: '..a/b..', look: { kind: 'absent' } },
];

/** What arrives of a hint, all messages put together. */
function passOn(hint: Hint): { sizes: number[]; paths: HintedPath[]; everything: number } {
  const messages = encodeHint(ADDRESS, hint);
  const paths: HintedPath[] = [];
  let everything = 0;
  for (const message of messages) {
    const told = decodeHint(message);
    expect(told).toMatchObject(ADDRESS);
    if (told?.hint.kind === 'paths') paths.push(...told.hint.paths);
    else everything += 1;
  }
  return { sizes: messages.map((message) => Buffer.byteLength(message)), paths, everything };
}

test('what one host encodes another reads', () => {
  expect(passOn({ kind: 'paths', paths: ALL }).paths).toEqual(ALL);
  expect(passOn({ kind: 'everything' })).toMatchObject({ paths: [], everything: 1 });
  expect(passOn({ kind: 'paths', paths: [] }).sizes).toEqual([]);
});

test('many paths are put into few messages, none of which is too long', () => {
  const paths = Array.from({ length: 1000 }, (_one, index): HintedPath => ({
    path: `d${'漢'.repeat(index % 80)}/${index}.md`,
    look: { kind: 'file', sizeBytes: BigInt(index), mtimeNs: 1_750_000_000_123_456_789n },
  }));
  const passed = passOn({ kind: 'paths', paths });
  expect(passed.paths).toEqual(paths);
  expect(Math.max(...passed.sizes)).toBeLessThanOrEqual(LARGEST_BYTES);
  const needed = passed.sizes.reduce((sum, size) => sum + size, 0) / LARGEST_BYTES;
  expect(passed.sizes.length).toBeLessThanOrEqual(Math.ceil(needed) + 1);
});

test('a message may be as long as PostgreSQL takes it, and what is longer becomes a hint for everything', () => {
  const hintFor = (length: number): Hint => ({
    kind: 'paths',
    paths: [
      { path: 'a', look: { kind: 'absent' } },
      { path: 'b'.repeat(length), look: { kind: 'absent' } },
    ],
  });
  let longest = 7000;
  while (passOn(hintFor(longest + 1)).everything === 0) longest += 1;
  const passed = passOn(hintFor(longest));
  expect(passed.paths).toHaveLength(2);
  expect(Math.max(...passed.sizes)).toBe(LARGEST_BYTES);
  expect(passOn(hintFor(longest + 1))).toMatchObject({ paths: [], everything: 1 });
  const source = 's'.repeat(LARGEST_BYTES);
  expect(encodeHint({ ...ADDRESS, source }, hintFor(1)), 'nobody can be told').toEqual([]);
});

test.each([
  '',
  '{',
  'null',
  '7',
  '"web1"',
  '[]',
  '{}',
  JSON.stringify({ ...ADDRESS }),
  JSON.stringify({ ...ADDRESS, paths: 'a.md' }),
  JSON.stringify({ ...ADDRESS, unit: '7', paths: null }),
  JSON.stringify({ ...ADDRESS, host: null, paths: null }),
  JSON.stringify({ ...ADDRESS, schema: 1, paths: null }),
  JSON.stringify({ ...ADDRESS, source: ['docs'], paths: null }),
])('%s is no hint', (message) => {
  expect(decodeHint(message)).toBeNull();
});

test.each<{ one: unknown }>([
  { one: ['../a', 'absent'] },
  { one: ['a/../../b', 'absent'] },
  { one: ['/etc/passwd', 'absent'] },
  { one: ['a//b', 'absent'] },
  { one: ['./a', 'absent'] },
  { one: ['a\0b', 'absent'] },
  { one: ['', 'absent'] },
  { one: [7, 'absent'] },
  { one: ['a', 'gone'] },
  { one: ['a', 'file 1'] },
  { one: ['a', 'file -1 2'] },
  { one: ['a', 'file 1 2 3'] },
  { one: ['a', `file 1 ${'9'.repeat(21)}`] },
  { one: ['a', 'directory 1 2'] },
  { one: ['a', 'absent 1'] },
  { one: ['a', 1] },
  { one: ['a'] },
  { one: 'a' },
  { one: null },
])('of the path $one nothing is left, but of the others', ({ one }) => {
  const message = JSON.stringify({ ...ADDRESS, paths: [one, ['b', 'absent']] });
  const paths = [{ path: 'b', look: { kind: 'absent' } }];
  expect(decodeHint(message)?.hint).toEqual({ kind: 'paths', paths });
});
