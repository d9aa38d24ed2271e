import fc from 'fast-check';
import picomatch from 'picomatch';
import { describe, expect, test } from 'vitest';
import { compilePattern, PatternError } from '../../src/domain/pattern.ts';
import { SEED } from '../seed.ts';

describe('a pattern', () => {
  const rows: readonly (readonly [pattern: string, path: string, matches: boolean])[] = [
    // Without a slash: the name, at any depth
    ['*.md', 'a.md', true],
    ['*.md', 'a/b/c.md', true],
    ['*.md', 'a.md/b', false],
    ['readme', 'x/readme', true],
    ['readme', 'readme/x', false],
    ['*', 'a/b', true],
    ['*', '.hidden', true],
    ['?.md', 'x/a.md', true],
    ['?.md', 'x/ab.md', false],
    ['*.{md,txt}', 'x/a.txt', true],
    ['[ab].md', 'b.md', true],
    // With one: from the source's directory on
    ['a/*.md', 'a/b.md', true],
    ['a/*.md', 'x/a/b.md', false],
    ['a/*.md', 'a/b/c.md', false],
    ['/a.md', 'a.md', true],
    ['/a.md', 'x/a.md', false],
    ['reports/**', 'reports/a/b', true],
    ['reports/**', 'x/reports/a', false],
    ['**/x/*.md', 'x/a.md', true],
    ['**/x/*.md', 'a/b/x/a.md', true],
    ['**', 'a/b/c', true],
    ['**', '.a/.b', true],
    // Case
    ['*.md', 'a.MD', false],
    ['Reports/**', 'reports/a', false],
    // Dot files
    ['*.md', '.a.md', true],
    ['**/*.md', '.a/.b.md', true],
    ['a/**', 'a/.b/.c', true],
    // NFC: the pattern as well
    ['caf\u0065\u0301.md', 'x/caf\u00e9.md', true],
    // A name may hold anything but a slash
    ['**/*.md', 'a\nb/c.md', true],
    ['a/**', 'a/b\nc', true],
    ['*.md', 'x\ny.md', true],
  ];
  test.each(rows)('%j against %j: %j', (pattern, path, matches) => {
    expect(compilePattern(pattern)(path)).toBe(matches);
  });
});

/** Parts of patterns; letters are few, so that names match often. */
const part = fc.constantFrom(
  ...['*', '*', '*', '**', '**/', '/**/', '?', '/', '/', 'a', 'a', 'b', '-', '.', '.md', '..'],
  ...['[ab]', '[!a]', '[^b-c]', '{a,b}', '{a,*b}', '{1..3}', '@(a|b)', '?(a)', '+(a|b)', '*(a|b*)', '+(*a)'],
  ...[
    '!(a)',
    '!(*.md)',
    '!(a|b-)',
    '(a|b)',
    '(a*)+',
    '!',
    '+',
    '|',
    '\\*',
    '\\[',
    '\\d',
    '\\w',
    '[[:digit:]]',
  ],
  ...['é', '🙂', ' ', '$', '^', '\n'],
);
const pattern = fc.array(part, { minLength: 1, maxLength: 9 }).map((parts) => parts.join(''));
const name = fc
  .array(
    fc.constantFrom(
      ...['a', 'a', 'b', 'ab', '-', '/', '/', '.', '..', '.md', 'c', '1', '*', '[', '!', '(a)', '+', '|'],
      ...['é', '🙂', ' ', '$', '\n', '\\', 'A', 'd'],
    ),
    { minLength: 1, maxLength: 9 },
  )
  .map((parts) => parts.join('').split('/'))
  // As a scan meets them.
  .map((parts) => parts.filter((one) => !/^\.{0,2}$/u.test(one)).join('/'))
  .filter((path) => path !== '');

/** `null` for what is refused. */
function compiled(text: string): ((path: string) => boolean) | null {
  try {
    return compilePattern(text);
  } catch (error) {
    expect(error).toBeInstanceOf(PatternError);
    return null;
  }
}

test('patterns match what picomatch matches', () => {
  fc.assert(
    fc.property(pattern, fc.array(name, { minLength: 1, maxLength: 12 }), (text, names) => {
      const ours = compiled(text);
      if (ours === null) return;
      const glob = text.includes('/') ? text.replace(/^\//u, '') : `**/${text}`;
      const theirs = picomatch(glob, { dot: true, flags: 's' });
      for (const one of names) expect([one, ours(one)]).toEqual([one, theirs(one)]);
    }),
    { seed: SEED, numRuns: Number(process.env['FUZZ_RUNS'] ?? '2000') },
  );
});

describe('no name takes long', () => {
  /** The longest names and paths there are, such as patterns with many stars are slow at elsewhere. */
  const worst = ['-', 'a', 'ab', 'a-', 'b.', 'a.md-', '.md', '🙂'].flatMap((unit) => {
    const longest = unit.repeat(250 / unit.length);
    const deep = `${unit}/`.repeat(4000 / (unit.length + 1));
    return [longest, `${longest}c`, `${longest}.md`, deep, `${deep}c`, `${deep}${longest}`];
  });

  function expectFast(text: string): void {
    const matches = compiled(text);
    if (matches === null) return;
    for (const one of worst) {
      const { user, system } = process.cpuUsage();
      matches(one);
      const spent = process.cpuUsage({ user, system });
      expect([text, one, (spent.user + spent.system) / 1000 < 1000]).toEqual([text, one, true]);
    }
  }

  test.each([
    ...[
      '*-*-*-*-*.pdf',
      '*a*a*a*a*a*a*a*a*b',
      '**/a/**/a/**/a/**/a/**/b',
      '**a**a**a**a**a**b',
      '?*?*?*?*?*?*c',
    ],
    ...[
      '+(*a)b',
      '*(a*)b',
      '+(+(a))',
      '(a+)+b',
      '([a-z]+)+b',
      '{a*,b}+b',
      '!(*a*a*a*)b',
      '*(**)b',
      '(a|a)+b',
    ],
    ...['+(a|(b*))', '*a????????????????????', '[ab]*[ab]*[ab]*[ab]*[ab]*[ab]*c'],
  ])('with %s', expectFast);

  test('with any of 200 patterns', () => {
    for (const text of fc.sample(pattern, { seed: SEED, numRuns: 200 })) expectFast(text);
  });
});

describe('no pattern is', () => {
  test.each([
    ['what refers back to a group', '(a)\\1', /contains "\\\\1"/u],
    ['a path as Windows writes it, where it would be a word boundary', 'docs\\backup', /separated by "\/"/u],
    ['a bracket that is open', '[z-a]', /a range is reversed/u],
    ['what is too long', 'a'.repeat(1001), /longer than 1000/u],
  ])('%s', (_, text, message) => {
    expect(() => compilePattern(text)).toThrow(message);
  });
});
