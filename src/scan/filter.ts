import ignore, { type Ignore } from 'ignore';

/** What is never synced unless a pattern with `!` takes it back in. */
export const DEFAULT_IGNORE: readonly string[] = [
  '.git/',
  '.hg/',
  '.svn/',
  '.botsync/',
  '.botsyncignore',
  '.DS_Store',
  'Thumbs.db',
  '.env',
  '.env.*',
  '*~',
  '*.swp',
  '*.tmp',
  '*.part',
  '*.crdownload',
  '~$*',
  '.~lock.*#',
];

/** `ignore` remembers every path it was asked about; a fresh instance now and then keeps memory flat. */
const ASKED_BEFORE_RENEWAL = 10_000;

/** Says which paths of a source are left out. */
export interface PathFilter {
  /**
   * Whether an entry is left out, given that none of its parents is.
   * @param path - relative to the source, without a trailing slash.
   */
  ignores: (path: string, isDirectory: boolean) => boolean;
  /** Whether a file is left out, itself or by one of its parents. */
  ignoresFile: (path: string) => boolean;
  /** What leaves a file out, in words; `null` when nothing does. */
  whyIgnored: (path: string) => string | null;
}

/**
 * A filter of patterns in gitignore syntax, the built-in ones first.
 *
 * @param patterns - the config's `ignore` and the lines of `.botsyncignore`, in this order; the last match wins.
 * @param isProtected - paths that are left out whatever the patterns say (config, state file, secrets).
 */
export function createFilter(
  patterns: readonly string[],
  isProtected: (path: string) => boolean,
): PathFilter {
  const lines = [...DEFAULT_IGNORE, ...patterns];
  // Without a slash before its end a pattern speaks of names alone. When all do, the name is enough to ask about,
  // which saves looking at every parent again: they were asked about on the way down.
  const byNameOnly = lines.every((line) => !line.trim().replace(/\/$/u, '').includes('/'));
  let matcher: Ignore | null = null;
  let asked = 0;
  const matches = (subject: string): boolean => {
    if (matcher === null || ++asked >= ASKED_BEFORE_RENEWAL) {
      matcher = ignore({ ignorecase: false }).add(lines);
      asked = 0;
    }
    return matcher.ignores(subject);
  };
  const ignores = (path: string, isDirectory: boolean): boolean => {
    const subject = byNameOnly ? path.slice(path.lastIndexOf('/') + 1) : path;
    return matches(isDirectory ? `${subject}/` : subject) || isProtected(path);
  };
  const firstIgnored = (path: string): string | null => {
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
      if (ignores(path.slice(0, slash), true)) return path.slice(0, slash + 1);
    }
    return ignores(path, false) ? path : null;
  };
  return {
    ignores,
    ignoresFile: (path) => firstIgnored(path) !== null,
    whyIgnored: (path) => {
      const ignored = firstIgnored(path);
      if (ignored === null) return null;
      if (isProtected(ignored))
        return 'its use by botsync: the config, the state file and secrets are never synced';
      const { rule } = ignore({ ignorecase: false }).add(lines).test(ignored);
      return `the pattern "${rule?.pattern ?? ''}"${ignored === path ? '' : `, which matches ${ignored}`}`;
    },
  };
}
