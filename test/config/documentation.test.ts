import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { configJsonSchema, listFields } from '../../src/config/json-schema.ts';
import { parseDocument } from '../../src/config/document.ts';
import { DEFAULT_IGNORE } from '../../src/files/filter.ts';
import { compilePattern } from '../../src/domain/pattern.ts';
import { resolveSettings } from '../../src/domain/settings.ts';
import { configText, linesOf } from './fixture.ts';

const text = readFileSync(new URL('../../docs/CONFIGURATION.md', import.meta.url), 'utf8');
const fields = listFields(configJsonSchema());

/** The rows of the tables whose first column is a field, with the heading of their second column. */
const rows = text.split('\n\n').flatMap((block) => {
  const cells = block.split('\n').map((line) => line.split(/(?<!\\)\|/u).map((cell) => cell.trim()));
  if (cells[0]?.[1] !== 'Field') return [];
  return cells.slice(2).map(([, field = '', second = '']) => ({
    field: field.replaceAll('`', ''),
    column: cells[0]?.[2] ?? '',
    second,
  }));
});

test('documents every field of the schema, and no other', () => {
  expect(rows.map(({ field }) => field).sort()).toEqual([...fields.keys()].sort());
});

test.each(rows.filter(({ column }) => column === 'Default'))(
  '$field: documented default',
  ({ field, second }) => {
    const dot = field.lastIndexOf('.');
    const [parent, name] = dot < 0 ? ['', field] : [field.slice(0, dot), field.slice(dot + 1)];
    const root = parent === '' ? configJsonSchema() : fields.get(parent.replace(/\[\]$/u, ''));
    const owner = parent.endsWith('[]') ? root?.items : root;
    if (second === 'required') expect(owner?.required).toContain(name);
    else {
      expect(owner?.required ?? []).not.toContain(name);
      const documented: unknown = second === '–' ? undefined : JSON.parse(second.replaceAll('`', ''));
      expect(documented).toEqual(fields.get(field)?.default);
    }
  },
);

test('documents what a file gets when no rule speaks of it', () => {
  const settings: Readonly<Record<string, unknown>> = { ...resolveSettings([], 'text/plain'), renew: true };
  const documented = rows.filter(({ column, second }) => column !== 'Default' && /^`[^`]+`$/u.test(second));
  expect(documented.length).toBeGreaterThan(5);
  for (const { field, second } of documented) {
    expect({ [field]: JSON.parse(second.replaceAll('`', '')) as unknown }).toEqual({
      [field]: settings[field.replace('rules[].', '')],
    });
  }
});

test('documents the built-in patterns', () => {
  const [, section = ''] = text.split('### Built-in patterns\n');
  const [table = ''] = section.trim().split('\n\n');
  const documented = table.split('\n').flatMap((row) => {
    const patterns = row.split('|')[2] ?? '';
    return [...patterns.matchAll(/`([^`]+)`/gu)].map(([, pattern = '']) => pattern);
  });
  expect(documented.sort()).toEqual([...DEFAULT_IGNORE].sort());
});

describe('examples', () => {
  const examples = [...text.matchAll(/```jsonc\n(.*?)```/gsu)].map(([, example = '']) => example);
  test.each(examples)('%s', (example) => {
    const parsed = parseDocument(example);
    if (parsed.kind !== 'ok') throw new Error(parsed.message);
    expect(linesOf(configText(parsed.document.value as Record<string, unknown>))).toEqual({
      problems: [],
      warnings: [],
    });
  });
});

test.each([
  ['**', ['a', 'x/.b'], []],
  ['*.md', ['a.md', 'x/y/a.md'], ['a.MD']],
  ['/*.md', ['a.md'], ['x/a.md']],
  ['reports/**', ['reports/a', 'reports/x/.b'], ['x/reports/a']],
  ['**/*.{jpg,png}', ['a.jpg', 'x/y.png'], ['a.gif']],
  ['page-?.html', ['page-1.html'], ['page-10.html']],
  ['[ab]*', ['a1', 'x/b2'], ['c']],
  ['!(index).md', ['a.md', 'x/a.md'], ['index.md', 'x/index.md']],
])('the pattern %s matches as documented', (pattern, matched, others) => {
  expect(text).toContain(`| \`${pattern}\``);
  const predicate = compilePattern(pattern);
  const matches = (path: string): boolean => predicate(path);
  expect(matched.map(matches)).toEqual(matched.map(() => true));
  expect(others.map(matches)).toEqual(others.map(() => false));
});
