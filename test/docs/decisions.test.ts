import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './pages.ts';

const DIRECTORY = join(ROOT, 'docs/decisions');
const MOST_WORDS = 120;

/** The beginnings of a record's paragraphs: the title with its number, and the four parts. */
const PARTS = [
  /^# \d+\. \S/u,
  /^\*\*Context\.\*\* \S/u,
  /^\*\*Decision\.\*\* \S/u,
  /^\*\*Consequences\.\*\* \S/u,
  /^\*\*Reopen if\*\* \S/u,
];

const index = readFileSync(join(DIRECTORY, 'README.md'), 'utf8');
const records = readdirSync(DIRECTORY)
  .filter((name) => name !== 'README.md')
  .sort()
  .map((name) => ({ name, text: readFileSync(join(DIRECTORY, name), 'utf8') }));

/** Returns what is wrong with the text of a record. */
function faultsOf(text: string): string[] {
  const words = text.trim().split(/\s+/u).length;
  const paragraphs = text.trim().split('\n\n');
  const hasForm =
    paragraphs.length === PARTS.length && PARTS.every((part, at) => part.test(paragraphs[at] ?? ''));
  return [...(words > MOST_WORDS ? [`${words} words`] : []), ...(hasForm ? [] : ['another form'])];
}

test.each(records)('docs/decisions/$name is short and has the four parts', ({ text }) => {
  expect(faultsOf(text)).toEqual([]);
});

test('docs/decisions/README.md lists every record with its number and title, in order', () => {
  expect(records.length).toBeGreaterThan(30);
  const entries = records.map(({ name, text }) => {
    const [, title = ''] = /^# \d+\. (.+)$/mu.exec(text) ?? [];
    return `- [${Number(name.slice(0, 4))}](${name}) ${title}`;
  });
  expect(index.split('\n').filter((line) => line.startsWith('- '))).toEqual(entries);
});

test.each(records)('docs/decisions/$name has the number of its title', ({ name, text }) => {
  expect(text).toMatch(new RegExp(`^# ${Number(name.slice(0, 4))}\\. `, 'u'));
});

test('a record that is too long, or lacks a part, is found', () => {
  const text = '# 1. A\n\n**Context.** B.\n\n**Decision.** C.\n\n**Consequences.** D.\n\n**Reopen if** E.\n';
  expect(faultsOf(text)).toEqual([]);
  expect(faultsOf(`${text.trim()}${' word'.repeat(MOST_WORDS)}\n`)).toEqual([
    expect.stringMatching(/^\d+ words$/u),
  ]);
  expect(faultsOf(text.replace('**Consequences.** ', ''))).toEqual(['another form']);
  expect(faultsOf(`${text}\nOne more paragraph.\n`)).toEqual(['another form']);
});
