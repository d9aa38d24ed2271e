import { expect, test } from 'vitest';
import { describeResource } from '../../src/cli/render/resource.ts';

test('a resource of any number of fields is described, in columns as wide as the longest name', () => {
  const fields = Array.from({ length: 200_000 }, (_, n) => [`f${n}`, n] as const);
  const lines = describeResource(Object.fromEntries(fields), []);
  expect(lines).toHaveLength(200_000);
  expect(lines[0]).toBe('f0:      0');
});

test('control characters in names and values do not reach the terminal', () => {
  expect(describeResource({ 'a\u001b[2J': '\u009b31mred', b: ['\u0007'] }, ['b'])).toEqual([
    'b:          \\u0007',
    'a\\u001b[2J: \\u009b31mred',
  ]);
});
