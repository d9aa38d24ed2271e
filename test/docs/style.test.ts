import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './pages.ts';

/** The phrases of the left column in STYLE.md that are wrong wherever they are: without a remark in parentheses. */
const phrases = readFileSync(join(ROOT, 'STYLE.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .flatMap((line) => (line.split('|')[1] ?? '').split(', '))
  .map((phrase) => phrase.trim())
  .filter((phrase) => !phrase.includes('('));

/** A comment names its subject: it does not begin by asking for it. */
const RIDDLE = /^(?:What|Whether|Whatever|Whoever|Told|How (?!long|often|many|much))/u;

/** The lines of the comments of a source file, with their numbers. */
function commentsOf(source: string): (readonly [number, string])[] {
  return source.split('\n').flatMap((line, at) => {
    const [, text = ''] = /^\s*(?:\/\*\*|\*|\/\/)\s*(.*?)(?:\s*\*\/)?$/u.exec(line) ?? [];
    return text === '' ? [] : [[at + 1, text] as const];
  });
}

function complaints(text: string): string[] {
  const found = phrases.filter((phrase) => new RegExp(`\\b${phrase}\\b`, 'iu').test(text));
  return RIDDLE.test(text) ? [...found, 'begins as a riddle'] : found;
}

test('comments keep to the words of STYLE.md', () => {
  expect(phrases.length).toBeGreaterThan(20);
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  const found = sources
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) =>
      commentsOf(readFileSync(join(ROOT, 'src', name), 'utf8')).flatMap(([line, text]) =>
        complaints(text).map((complaint) => `src/${name}:${line}: ${complaint}: ${text}`),
      ),
    );
  expect(found).toEqual([]);
});

test.each([
  ['Whether it may be sent.', 'begins as a riddle'],
  ['What people are told.', 'people are told'],
  ['The request is made again anew.', 'anew'],
])('a comment like %j is found', (text, complaint) => {
  expect(complaints(text)).toContain(complaint);
});

test('a duration may say how long it is', () => {
  expect(complaints('How long a path must be unchanged.')).toEqual([]);
});
