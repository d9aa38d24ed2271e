import { expect, test } from 'vitest';
import { hintForPatterns } from '../../src/domain/pattern.ts';

/** A source with the directories `reports/2026/`. */
const docs = {
  name: 'docs',
  directory: '/srv/bot/guides',
  keyPrefix: 'kb/',
  hasDirectory: (path: string) => ['reports', 'reports/2026'].includes(path),
};

const NO_IDEA = 'patterns match paths within the source (docs) and are case-sensitive';

test.each([
  ['guides/*.md', 'patterns are relative to the source docs: write "*.md"'],
  ['./guides/*.md', 'patterns are relative to the source docs: write "*.md"'],
  ['../guides/a/*.md', 'patterns are relative to the source docs: write "a/*.md"'],
  ['./*.md', 'patterns are relative to the source docs: write "*.md"'],
  ['kb/**/*.md', 'patterns are relative to the source docs: write "**/*.md"'],
  ['/srv/bot/guides/**', 'patterns are relative to the source docs: write "**"'],
  ['reports', '"reports" is a directory: write "reports/**"'],
  ['/reports/2026', '"reports/2026" is a directory: write "reports/2026/**"'],
  ['reports\\*.md', 'directories are separated by "/": write "reports/*.md"'],
  ['.md', 'to match names that end in it, write "*.md"'],
  ['*.md, *.pdf', 'several patterns need a list: write ["*.md", "*.pdf"]'],
  ['*.{md, pdf}', NO_IDEA],
  ['/*.md', NO_IDEA],
  ['guides', NO_IDEA],
  ['*.MD', NO_IDEA],
  ['', NO_IDEA],
])('in place of %j: %s', (pattern, hint) => {
  expect(hintForPatterns([pattern], [docs])).toBe(hint);
});

test('a directory within the source may have the name of the source', () => {
  const nested = { ...docs, directory: '/srv/reports' };
  expect(hintForPatterns(['reports/*.MD'], [nested])).toBe(NO_IDEA);
});

test('the first pattern and source that give an idea give the hint', () => {
  const other = { ...docs, name: 'other', directory: '/srv/other' };
  expect(hintForPatterns(['*.MD', 'other/*.md'], [docs, other])).toBe(
    'patterns are relative to the source other: write "*.md"',
  );
  expect(hintForPatterns(['*.MD'], [docs, other])).toContain('(docs, other)');
});
