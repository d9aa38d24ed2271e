import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mayShareKey, prefixesMeet, unitsOf, type UnitSource } from '../../src/domain/unit.ts';
import { SEED } from '../seed.ts';

const source = (name: string, keyPrefix: string, more: Partial<UnitSource> = {}): UnitSource => ({
  name,
  keyPrefix,
  targetName: 'bot-1',
  ...more,
});

const names = (sources: readonly UnitSource[]): string[] => unitsOf(sources).map(({ name }) => name);

describe('units', () => {
  test.each<[string, UnitSource[], string[]]>([
    ['sources whose prefixes differ', [source('a', 'a/'), source('b', 'b/')], ['a', 'b']],
    ['one prefix within another', [source('a', 'a/'), source('b', 'a/b/')], ['a+b']],
    ['a prefix that is no directory', [source('a', 'a'), source('b', 'ab/')], ['a+b']],
    ['no prefix meets all', [source('a', ''), source('b', 'b/'), source('c', 'c/')], ['a+b+c']],
    ['through a third', [source('a', 'x/a/'), source('b', 'x/b/'), source('c', 'x/')], ['a+b+c']],
    ['other bots', [source('a', 'a/'), source('b', 'a/', { targetName: 'bot-2' })], ['a', 'b']],
    [
      'a name like that of a unit',
      [source('a', 'x/'), source('b', 'x/y/'), source('a+b', 'z/')],
      ['a+b', 'a%2Bb'],
    ],
    ['one letter in two forms', [source('a', '\u00e9/'), source('b', 'e\u0301/x/')], ['a+b']],
  ])('of %s', (_, sources, expected) => {
    expect(names(sources)).toEqual(expected);
  });

  test('are named alike whatever the order, and keep the order of their sources', () => {
    const [a, b] = [source('a', 'x/'), source('b', 'x/y/')];
    expect(unitsOf([b, a])).toEqual([{ name: 'a+b', sources: [b, a] }]);
  });

  test('never share a key, and each source is in one of them', () => {
    const prefix = fc
      .array(fc.constantFrom('a/', 'b/', 'c', 'é', 'e\u0301'), { maxLength: 3 })
      .map((parts) => parts.join(''));
    const drawn = fc.array(fc.tuple(prefix, fc.constantFrom('bot-1', 'bot-2')), { maxLength: 8 });
    fc.assert(
      fc.property(drawn, (made) => {
        const sources = made.map(([keyPrefix, targetName], i) => source(`s${i}`, keyPrefix, { targetName }));
        const units = unitsOf(sources);
        expect(units.flatMap((unit) => unit.sources.map(({ name }) => name)).sort()).toEqual(
          sources.map(({ name }) => name).sort(),
        );
        for (const one of units)
          for (const other of units)
            if (one !== other)
              expect(one.sources.some((a) => other.sources.some((b) => mayShareKey(a, b)))).toBe(false);
      }),
      { seed: SEED },
    );
  });

  test('prefixes meet where one file could have a key under both', () => {
    expect(prefixesMeet('docs/', 'docs/faq/')).toBe(true);
    expect(prefixesMeet('docs/', 'faq/')).toBe(false);
  });
});
