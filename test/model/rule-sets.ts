/** Largest file of these tests' platform that may be indexed, and largest of all, bytes. */
export const LIMITS = { indexBytes: 40, fileBytes: 120 } as const;

/** What becomes of one file's expiry. Times in milliseconds, `atMs` since the epoch. */
export type ExpectedExpiry =
  | { readonly kind: 'none' }
  | { readonly kind: 'renewed'; readonly lifetimeMs: number; readonly beforeMs: number }
  | { readonly kind: 'let-expire' }
  | { readonly kind: 'at'; readonly atMs: number };

/** What the rules make of one file. */
export type Expected =
  | {
      readonly kind: 'mirrored';
      readonly index: boolean;
      readonly tags: Readonly<Record<string, string>>;
      readonly metadata: Readonly<Record<string, unknown>>;
      readonly contentType: string | null;
      readonly expiry: ExpectedExpiry;
    }
  | { readonly kind: 'refused' }
  | { readonly kind: 'skipped' };

/** Rules as a configuration has them, and what they mean, said independently. */
export interface RuleSet {
  readonly rules: readonly Record<string, unknown>[];
  readonly expect: (path: string, sizeBytes: number) => Expected;
}

/** How many rule sets there are. */
export const RULE_SETS = 11;

/** Rule sets that differ in nothing that takes a file's content. */
export const TOLD_SETS: readonly number[] = [0, 5, 6, 8, 9, 10];

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const PLAIN = {
  kind: 'mirrored',
  index: false,
  tags: {},
  metadata: {},
  contentType: null,
  expiry: { kind: 'none' },
} as const satisfies Expected;

/** The rule sets a configuration may have. `beganMs`: when the run began, epoch milliseconds. */
export function ruleSets(beganMs: number): readonly RuleSet[] {
  const atMs = beganMs + 10 * DAY;
  const indexed = (
    whenTooLargeToIndex: 'fail' | 'upload-without-index' | 'skip',
    other: Expected,
  ): RuleSet => ({
    rules: [{ match: '*.md', index: true, whenTooLargeToIndex }],
    expect: (path, sizeBytes) => {
      if (!path.endsWith('.md')) return PLAIN;
      return sizeBytes > LIMITS.indexBytes ? other : { ...PLAIN, index: true };
    },
  });
  const expiring = (rule: Record<string, unknown>, expiry: ExpectedExpiry): RuleSet => ({
    rules: [{ match: '*.txt', ...rule }],
    expect: (path) => (path.endsWith('.txt') ? { ...PLAIN, expiry } : PLAIN),
  });
  const sets: readonly RuleSet[] = [
    { rules: [], expect: () => PLAIN },
    {
      rules: [
        { match: '**', tags: { by: 'botsync' } },
        { match: 'c/**', contentType: 'text/x-c', tags: { in: 'c' } },
      ],
      expect: (path) =>
        path.startsWith('c/')
          ? { ...PLAIN, tags: { by: 'botsync', in: 'c' }, contentType: 'text/x-c' }
          : { ...PLAIN, tags: { by: 'botsync' } },
    },
    indexed('fail', { kind: 'refused' }),
    indexed('upload-without-index', PLAIN),
    indexed('skip', { kind: 'skipped' }),
    expiring(
      { expiresIn: '2d', renewBefore: '12h' },
      { kind: 'renewed', lifetimeMs: 2 * DAY, beforeMs: 12 * HOUR },
    ),
    expiring(
      { expiresIn: '90d', renewBefore: '45d' },
      { kind: 'renewed', lifetimeMs: 90 * DAY, beforeMs: 45 * DAY },
    ),
    expiring({ expiresIn: '1h', renew: false }, { kind: 'let-expire' }),
    expiring({ expiresAt: new Date(atMs).toISOString() }, { kind: 'at', atMs }),
    {
      rules: [{ match: '**', tags: { by: 'other', kind: 'x' }, metadata: { team: ['a'] } }],
      expect: () => ({ ...PLAIN, tags: { by: 'other', kind: 'x' }, metadata: { team: ['a'] } }),
    },
    {
      rules: [{ match: '**', metadata: { team: { b: 1 }, level: 2 }, expiresIn: '30d' }],
      expect: () => ({
        ...PLAIN,
        metadata: { team: { b: 1 }, level: 2 },
        expiry: { kind: 'renewed', lifetimeMs: 30 * DAY, beforeMs: 2 * DAY },
      }),
    },
  ];
  return sets.map(({ rules, expect }) => ({
    rules,
    expect: (path, sizeBytes) =>
      sizeBytes > LIMITS.fileBytes ? { kind: 'refused' } : expect(path, sizeBytes),
  }));
}

/** What leaves paths out: lines in gitignore syntax, and the same said independently, of one entry below its source. */
export interface IgnoreSet {
  readonly lines: readonly string[];
  readonly ignores: (path: string, name: string, isDirectory: boolean) => boolean;
}

/** The ignore sets a source may have, from its configuration and its own file. */
export const IGNORE_SETS: readonly IgnoreSet[] = [
  { lines: [], ignores: () => false },
  { lines: ['*.txt'], ignores: (_path, name) => name.endsWith('.txt') },
  { lines: ['b/'], ignores: (_path, name, isDirectory) => isDirectory && name === 'b' },
  { lines: ['/a.md'], ignores: (path) => path === 'a.md' },
  { lines: ['*.md', '!c.md'], ignores: (_path, name) => name.endsWith('.md') && name !== 'c.md' },
];
