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
  // vim, emacs
  '.sw?',
  '.*.sw?',
  '.*.swpx',
  '\\#*#',
  '.#*',
  // Browsers
  '*.partial',
  '*.opdownload',
  '*.download/',
  '.com.google.Chrome.*',
  '.org.chromium.Chromium.*',
  // SQLite, beside files that are named as its databases usually are
  '*.db*-journal',
  '*.db*-wal',
  '*.db*-shm',
  '*.sqlite*-journal',
  '*.sqlite*-wal',
  '*.sqlite*-shm',
  // Removed files that are still open, on NFS and FUSE
  '.nfs[0-9a-f][0-9a-f][0-9a-f][0-9a-f]*',
  '.fuse_hidden*',
  // macOS, on disks of others
  '._*',
  '.Spotlight-V100/',
  '.Trashes/',
  '.fseventsd/',
];

/** Whether a built-in pattern may match one of a path's names: no more than a first look, which spares nearly all the others. */
const MAY_BE_BUILT_IN = asRegExp(DEFAULT_IGNORE);

/** Patterns that speak of names alone. */
function asRegExp(patterns: readonly string[]): RegExp {
  const names = patterns.map((pattern) => pattern.replace(/\/$/u, '').replace(/\\(.)|[*?.$]/gu, translate));
  const endings = names.filter((name) => name.startsWith('[^/]*')).map((name) => name.slice('[^/]*'.length));
  const others = names.filter((name) => !name.startsWith('[^/]*'));
  return new RegExp(`(?:^|/)(?:${others.join('|')}|[^/]*(?:${endings.join('|')}))(?:/|$)`, 'u');
}

function translate(found: string, escaped?: string): string {
  if (escaped !== undefined) return escaped;
  return found === '*' ? '[^/]*' : found === '?' ? '[^/]' : `\\${found}`;
}

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
  const matchesAny = matcherOf(lines);
  const matchesOwn = patterns.length === 0 ? () => false : matcherOf(patterns);
  // Where no built-in pattern matches, it is as if there were none.
  const matches = (subject: string): boolean =>
    (MAY_BE_BUILT_IN.test(subject) ? matchesAny : matchesOwn)(subject);
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
        return 'botsync itself: the config, the state file and secrets are never synced';
      const { rule } = ignore({ ignorecase: false }).add(lines).test(ignored);
      const pattern = rule?.pattern ?? '';
      const isBuiltIn = DEFAULT_IGNORE.includes(pattern) && !patterns.includes(pattern);
      const which = ignored === path ? '' : `, which matches ${ignored}`;
      return `the ${isBuiltIn ? 'built-in ' : ''}pattern "${pattern}"${which}`;
    },
  };
}

function matcherOf(lines: readonly string[]): (subject: string) => boolean {
  let matcher: Ignore | null = null;
  let asked = 0;
  return (subject) => {
    if (matcher === null || ++asked >= ASKED_BEFORE_RENEWAL) {
      matcher = ignore({ ignorecase: false }).add([...lines]);
      asked = 0;
    }
    return matcher.ignores(subject);
  };
}
