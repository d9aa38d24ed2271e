import { describe, expect, test } from 'vitest';
import { runsAway } from '../../src/config/runaway-pattern.ts';

describe('a pattern that takes years for some names', () => {
  test.each([
    ...[
      '+(*a)b',
      '*(a*)b',
      '*(**)b',
      '+(**)b',
      '(a*)+b',
      '(*a)+b',
      '(a|*)+b',
      '{a*,b}+b',
      '([a-z]+)+b',
      '(a+)+b',
    ],
    ...['(a|a)+b', '@(a|a)+b', 'x/+(@(a*))', '+(a|(b*))', '(a|aa)+b', '+(+(a))', '(a(b|c))+'],
  ])('is known: %s', (pattern) => {
    expect(runsAway(pattern)).toBe(true);
  });

  test.each([
    ...[
      '**',
      '**/*.pdf',
      '*.{md,html}',
      '+(a|b).txt',
      '*(ab)',
      '+([0-9]).md',
      '!(*.tmp)',
      '@(a*|b*)',
      '?(a*)',
      'a+b',
    ],
    ...['\\(a*\\)+', '(ab)+', 'a)+', '*)', '}+', '[[:alpha:]]*', 'reports/**/20[0-9][0-9]-*.csv'],
  ])('is not every pattern: %s', (pattern) => {
    expect(runsAway(pattern)).toBe(false);
  });
});
