import { describe, expect, test } from 'vitest';
import { compileRules, type Rule } from '../../src/domain/rules.ts';

describe('a rule book', () => {
  const rules: readonly Rule[] = [
    { match: ['**'], sources: null, set: { tags: { all: 'yes' } } },
    { match: ['*.md', 'extra/**'], sources: null, set: { index: true } },
    { match: ['*.md'], sources: ['docs', 'more'], set: { tags: { kind: 'page' } } },
    { match: ['*.md'], sources: ['other'], set: { index: false } },
  ];
  const type = (path: string): string => (path.endsWith('.md') ? 'text/markdown' : 'a/b');

  test('applies every match in order, restricted to its sources', () => {
    const docs = compileRules(rules, 'docs', type);
    expect(docs.matching('a/x.md')).toEqual([0, 1, 2]);
    expect(docs.matching('extra/x')).toEqual([0, 1]);
    expect(docs.matching('x')).toEqual([0]);
    expect(docs.resolve('a/x.md').settings).toMatchObject({
      index: true,
      tags: { all: 'yes', kind: 'page' },
      contentType: 'text/markdown',
    });
    const other = compileRules(rules, 'other', type);
    expect(other.matching('x.md')).toEqual([0, 1, 3]);
    expect(other.resolve('x.md').settings).toMatchObject({ index: false, tags: { all: 'yes' } });
    expect(compileRules(rules, 'more', type).matching('x.md')).toEqual([0, 1, 2]);
    expect(compileRules([], 'docs', type).resolve('x').settings).toMatchObject({ tags: {}, index: false });
  });

  test('shares settings among files of the same rules and type, and only among them', () => {
    const book = compileRules(rules, 'docs', type);
    expect(book.resolve('b/y.md')).toBe(book.resolve('x.md'));
    expect(book.resolve('extra/x')).not.toBe(book.resolve('x'));
    expect(book.resolve('extra/x').settings.index).toBe(true);
    expect(book.resolve('extra/x').digest).not.toBe(book.resolve('x').digest);
    const byType = compileRules([], 'docs', type);
    expect(byType.resolve('x.md').digest).not.toBe(byType.resolve('x').digest);
  });

  test('knows what has matched of rules and of patterns that are watched for', () => {
    const book = compileRules(rules, 'docs', type, ['*.mp3', '**/b/*.wav', 'none']);
    expect([book.met.hasFiles(), [...book.met.rules], book.met.unmet().length]).toEqual([false, [], 3]);
    book.resolve('x');
    book.resolve('a/y.mp3');
    expect([book.met.hasFiles(), [...book.met.rules]]).toEqual([true, [0]]);
    book.resolve('x.md');
    book.resolve('b/z.wav');
    // The last is for another source.
    expect([...book.met.rules]).toEqual([0, 1, 2]);
    expect(book.met.unmet()).toEqual(['none']);
  });

  test('tells the eleventh rule from the first two', () => {
    const many = Array.from({ length: 12 }, (_, at): Rule => {
      return {
        match: [at === 11 ? 'a' : at === 1 ? 'b' : 'none'],
        sources: null,
        set: { contentType: `t/${at}` },
      };
    });
    const book = compileRules(many, 'docs', () => 'x/y');
    expect(book.resolve('a').settings.contentType).toBe('t/11');
    expect(book.resolve('b').settings.contentType).toBe('t/1');
  });
});
