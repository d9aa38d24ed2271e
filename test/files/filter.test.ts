import fc from 'fast-check';
import ignore from 'ignore';
import { describe, expect, test } from 'vitest';
import { createFilter, DEFAULT_IGNORE } from '../../src/files/filter.ts';

const never = (): boolean => false;

describe('what is left out', () => {
  const rows: readonly (readonly [patterns: readonly string[], path: string, ignored: boolean])[] = [
    // Names at any depth, anchored, directories only
    [['*.log'], 'a/b.log', true],
    [['*.log'], 'a/b.logs', false],
    [['drafts/'], 'drafts/a', true],
    [['drafts/'], 'x/drafts/a/b', true],
    [['drafts/'], 'drafts', false],
    [['/a.md'], 'a.md', true],
    [['/a.md'], 'x/a.md', false],
    [['a/b'], 'a/b', true],
    [['a/b'], 'a/b/c', true],
    [['a/b'], 'x/a/b', false],
    [['a/*.md'], 'a/x/b.md', false],
    [['a/**/b'], 'a/x/y/b', true],
    [['**/b/c'], 'x/b/c', true],
    [['# comment', '', '   '], '# comment', false],
    [['\\#x'], '#x', true],
    [['\\!x'], '!x', true],
    [['x   '], 'x', true],
    // The last match wins; a parent that is left out cannot be got back piecemeal
    [['*.log', '!keep.log'], 'a/keep.log', false],
    [['!keep.log', '*.log'], 'a/keep.log', true],
    [['a/', '!a/b'], 'a/b', true],
    [['a/*', '!a/b'], 'a/b', false],
    [['a/*', '!a/b'], 'a/c', true],
    // Case
    [['*.LOG'], 'a.log', false],
    // Ours, and taken back in
    ...['.git/x', '.hg/x', '.svn/x', '.botsync/state.db', 'a/.git/b/c'].map(
      (path) => [[], path, true] as const,
    ),
    ...[
      '.botsyncignore',
      '.DS_Store',
      'Thumbs.db',
      '.env',
      '.env.local',
      'a~',
      '.a.swp',
      'a.tmp',
      'a.part',
    ].map((name) => [[], `x/${name}`, true] as const),
    ...['a.crdownload', '~$a.docx', '.~lock.a.odt#'].map((name) => [[], `x/${name}`, true] as const),
    // Of programs that are at work
    ...['.a.md.swo', '.a.md.swa', '.swp', '.a.md.swpx', '#a.md#', '.#a.md', 'x/#a b#'].map(
      (path) => [[], path, true] as const,
    ),
    ...['a.db-wal', 'a.db3-journal', 'a.sqlite-shm', 'a.sqlite3-wal', '~WRL0005.tmp', 'lu123abc.tmp'].map(
      (path) => [[], path, true] as const,
    ),
    ...['.nfs000000000001e0310000002b', '.fuse_hidden0000000200000001', '._a.md', 'a.zip.download/x'].map(
      (path) => [[], path, true] as const,
    ),
    ...['.Spotlight-V100/x', '.Trashes/501/x', '.fseventsd/x', 'a.partial', 'a.opdownload'].map(
      (path) => [[], path, true] as const,
    ),
    ...['.com.google.Chrome.x1Y2z3', '.org.chromium.Chromium.x1Y2z3'].map(
      (path) => [[], path, true] as const,
    ),
    ...['.icon.svg', 'a.sw1', '#a', 'a#', 'travel-journal', 'a-wal', 'b.md-journal', 'c.download', '_a'].map(
      (path) => [[], path, false] as const,
    ),
    ...['.nfs', '.nfsmount', '.fuse', '.Trashes', '.swallow', 'a.db', 'a.sqlite3'].map(
      (path) => [[], path, false] as const,
    ),
    [['!.#keep'], '.#keep', false],
    [['!*.db-wal', 'x/*.db-wal'], 'x/a.db-wal', true],
    [['/x/', '!*.md'], 'x/a.md', true],
    ...['.git', '.hidden', '.envrc', 'env', 'a.tmpl', '.github/x', 'thumbs.db', 'a~b'].map(
      (path) => [[], path, false] as const,
    ),
    [['!.env.example'], '.env.example', false],
    [['!.env.example'], '.env.local', true],
    [['!.git/'], '.git/x', false],
    [['!*.tmp'], 'x/a.tmp', false],
  ];
  test.each(rows)('%j: %s: %j', (patterns, path, ignored) => {
    const filter = createFilter(patterns, never);
    expect(filter.ignoresFile(path)).toBe(ignored);
    expect(filter.whyIgnored(path) !== null).toBe(ignored);
  });

  test('a directory is asked about as one', () => {
    const filter = createFilter(['drafts/', 'x'], never);
    expect(filter.ignores('a/drafts', true)).toBe(true);
    expect(filter.ignores('a/drafts', false)).toBe(false);
    expect(filter.ignores('a/x', true)).toBe(true);
  });

  test('what is protected is left out whatever the patterns say', () => {
    const filter = createFilter(['!**', '!secret'], (path) => path === 'secret' || path === 'dir');
    expect(filter.ignores('secret', false)).toBe(true);
    expect(filter.ignoresFile('dir/a')).toBe(true);
    expect(filter.ignoresFile('a/secret')).toBe(false);
    expect(filter.whyIgnored('secret')).toMatch(/^botsync itself/u);
  });

  test('says which pattern it was', () => {
    const filter = createFilter(['drafts/', '*.log', '!keep.log', '/anchored'], never);
    expect(filter.whyIgnored('a/b.log')).toBe('the pattern "*.log"');
    expect(filter.whyIgnored('x/drafts/a')).toBe('the pattern "drafts/", which matches x/drafts/');
    expect(filter.whyIgnored('.git/a')).toBe('the built-in pattern ".git/", which matches .git/');
    expect(filter.whyIgnored('x/.a.md.swo')).toBe('the built-in pattern ".*.sw?"');
    expect(createFilter(['*.tmp'], never).whyIgnored('a.tmp')).toBe('the pattern "*.tmp"');
    expect(filter.whyIgnored('anchored')).toBe('the pattern "/anchored"');
    expect(filter.whyIgnored('keep.log')).toBeNull();
  });

  const name = fc.constantFrom('a', 'b', 'ab', '.a', 'a.tmp', 'x.log');
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
  const pattern = (body: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc.tuple(fc.constantFrom('', '', '!'), body, fc.constantFrom('', '', '/')).map((parts) => parts.join(''));
  const nameOnly = pattern(fc.constantFrom('a', 'b', 'ab', '*.log', '*.tmp', 'a*', '?', '.*', '[ab]', '*'));
  const any = fc.oneof(
    nameOnly,
    pattern(fc.constantFrom('/a', 'a/b', '**/b', 'a/**', '/*', '*/b', 'a/*/b', '/**/ab', 'b/*.log')),
    fc.constantFrom('# a/b', ''),
  );

  test.each([
    ['names', nameOnly],
    ['paths', any],
  ])('patterns of %s are taken as the whole path of gitignore would be', (_what, one) => {
    fc.assert(
      fc.property(fc.array(one, { maxLength: 4 }), path, (patterns, asked) => {
        const reference = ignore({ ignorecase: false }).add([...DEFAULT_IGNORE, ...patterns]);
        expect(createFilter(patterns, never).ignoresFile(asked)).toBe(reference.ignores(asked));
      }),
      { numRuns: 1000 },
    );
  });

  test('answers the same after it has renewed its memory', () => {
    const filter = createFilter(['drafts/'], never);
    for (let i = 0; i < 20_001; i++) {
      expect(filter.ignores(`a${i}`, false)).toBe(false);
      expect(filter.ignores('drafts', true)).toBe(true);
    }
  });
});
