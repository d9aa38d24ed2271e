import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/SECURITY.md'), 'utf8');
const tested = readFileSync(join(ROOT, 'test/security/claims.md'), 'utf8');

const TEST_LINE = /^ {2}`(test\/\S+\.ts)`: "(.+)"$/gmu;

/** Claims that no test can check: they follow from what the code does not do, or are about how releases are made. */
const WITHOUT_TEST = [
  'Nothing is ever written to a source.',
  'Releases are published only by the workflow, with a provenance statement.',
];

/** The points of a page: their words, and the tests that follow them. */
function pointsOf(text: string): { claim: string; tests: number }[] {
  return [...text.matchAll(/^- [^\n]*(?:\n {2}[^\n]*)*/gmu)].map(([point]) => ({
    claim: point.replaceAll(TEST_LINE, '').slice(2).replaceAll(/\s+/gu, ' ').trim(),
    tests: [...point.matchAll(TEST_LINE)].length,
  }));
}

/** The tests that are named: a file, and words of a test's name in it. */
const named = [...tested.matchAll(TEST_LINE)].map(([, file = '', name = '']) => ({ file, name }));

test.each(named)('a test of what docs/SECURITY.md claims is in $file: $name', ({ file, name }) => {
  const text = readFileSync(join(ROOT, file), 'utf8').replaceAll("\\'", "'");
  expect(text).toContain(name);
});

test('every line that is about a test names one', () => {
  expect(named.length).toBe((tested.match(/`test\//gu) ?? []).length);
  expect(named.length).toBeGreaterThan(30);
});

test('every claim of docs/SECURITY.md has a test', () => {
  const points = pointsOf(tested);
  expect(points.map(({ claim }) => claim)).toEqual(pointsOf(page).map(({ claim }) => claim));
  expect(points.filter(({ tests }) => tests === 0).map(({ claim }) => claim)).toEqual(WITHOUT_TEST);
});
