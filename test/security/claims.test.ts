import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/SECURITY.md'), 'utf8');

/** The tests that the page names: a file, and words of a test's name in it. */
const named = [...page.matchAll(/^ {2}`(test\/\S+\.ts)`: "(.+)"$/gmu)].map(([, file = '', name = '']) => ({
  file,
  name,
}));

test.each(named)('docs/SECURITY.md names a test of $file: $name', ({ file, name }) => {
  const text = readFileSync(join(ROOT, file), 'utf8').replaceAll("\\'", "'");
  expect(text).toContain(name);
});

test('every line of docs/SECURITY.md that is about a test names one', () => {
  expect(named.length).toBe((page.match(/`test\//gu) ?? []).length);
  expect(named.length).toBeGreaterThan(30);
});
