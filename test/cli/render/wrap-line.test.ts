import fc from 'fast-check';
import { expect, test } from 'vitest';
import { widthOf, wrapLine } from '../../../src/cli/render/text-layout.ts';
import { SEED } from '../../seed.ts';

const RED = '\u001b[31m';
const PLAIN = '\u001b[39m';

test.each<[string, string, number, string[]]>([
  ['what fits stays as it is', '  a b', 5, ['  a b']],
  ['between words, further right', 'one two three', 8, ['one two', '  three']],
  ['of an indented line', '  docs: one two', 10, ['  docs:', '    one', '    two']],
  ['a word that is too long', '/srv/a/very/long', 8, ['/srv/a/v', '  ery/lo', '  ng']],
  ['wide characters are never halved', '日本語日本語', 5, ['日本', '  語', '  日', '  本', '  語']],
  [
    'each row has its colour',
    `${RED}one two${PLAIN} six`,
    5,
    [`${RED}one${PLAIN}`, `  ${RED}two${PLAIN}`, '  six'],
  ],
])('%s', (_what, line, columns, rows) => {
  expect(wrapLine(line, columns)).toEqual(rows);
});

test('no row is too wide, and nothing is lost', () => {
  const word = fc.string({
    unit: fc.constantFrom('a', 'é', '日', '/', '👩‍👩‍👧', '-'),
    minLength: 1,
    maxLength: 30,
  });
  const painted = fc.tuple(word, fc.boolean()).map(([text, red]) => (red ? `${RED}${text}${PLAIN}` : text));
  const line = fc
    .tuple(fc.integer({ min: 0, max: 6 }), fc.array(painted, { maxLength: 12 }))
    .map(([indent, words]) => `${' '.repeat(indent)}${words.join(' ')}`);
  const bare = (text: string): string => text.replaceAll(/\u001b\[\d+m| /gu, '');
  fc.assert(
    fc.property(line, fc.integer({ min: 12, max: 60 }), (text, columns) => {
      const rows = wrapLine(text, columns);
      for (const row of rows) {
        expect(widthOf(row)).toBeLessThanOrEqual(columns);
        expect(row.split(RED)).toHaveLength(row.split(PLAIN).length);
      }
      expect(bare(rows.join(''))).toBe(bare(text));
    }),
    { seed: SEED },
  );
});
