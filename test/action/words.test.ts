import { expect, test } from 'vitest';
// @ts-expect-error -- plain JavaScript, which a runner starts as it is
import { splitWords as split } from '../../action/words.js';

const splitWords = split as (text: string) => { words: string[]; problem: string | null };

test.each([
  ['', []],
  ['  \n\t ', []],
  ['--dry-run --wait 10m', ['--dry-run', '--wait', '10m']],
  ['--dry-run\n--wait\n10m\n', ['--dry-run', '--wait', '10m']],
  [`--force 'my reports/**'`, ['--force', 'my reports/**']],
  [`--force "it's"`, ['--force', `it's`]],
  [`a"b c"'d e'f`, ['ab cd ef']],
  [String.raw`a\ b \"c\" 'd\e' "f\"g"`, ['a b', '"c"', String.raw`d\e`, 'f"g']],
  ['--wait \\\n10m', ['--wait', '10m']],
  [`'' ""`, ['', '']],
  ['$(id) `id` ; id & $HOME *', ['$(id)', '`id`', ';', 'id', '&', '$HOME', '*']],
])('%j gives %j', (text, words) => {
  expect(splitWords(text)).toEqual({ words, problem: null });
});

test.each([`--force 'reports`, `"`, `a\\`])('%j is refused', (text) => {
  expect(splitWords(text)).toEqual({ words: [], problem: expect.any(String) as string });
});
