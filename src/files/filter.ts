import ignore, { type Ignore } from 'ignore';

/** Patterns of files that are not synced, unless a pattern with `!` includes them again. */
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
  // SQLite's companions of files with the usual names of databases
  '*.db*-journal',
  '*.db*-wal',
  '*.db*-shm',
  '*.sqlite*-journal',
  '*.sqlite*-wal',
  '*.sqlite*-shm',
  // Deleted files that are still open, on NFS and FUSE
  '.nfs[0-9a-f][0-9a-f][0-9a-f][0-9a-f]*',
  '.fuse_hidden*',
  // macOS, on foreign file systems
  '._*',
  '.Spotlight-V100/',
  '.Trashes/',
  '.fseventsd/',
];

/** Matches every path that a built-in pattern could match, and few others: a cheap check before the exact one. */
const MAY_BE_BUILT_IN = asRegExp(DEFAULT_IGNORE);

/** Converts patterns without `/` (but at the end) to one regular expression. */
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

/** `ignore` caches every path that it was asked about; renewing the instance bounds its memory. */
const ASKED_BEFORE_RENEWAL = 10_000;

/** Decides which paths of a source are ignored. */
export interface PathFilter {
  /**
   * Returns whether an entry is ignored, given that none of its parents is.
   * @param path - relative to the source, without a trailing slash.
   */
  ignores: (path: string, isDirectory: boolean) => boolean;
  /** Returns whether a file is ignored, itself or by one of its parents. */
  ignoresFile: (path: string) => boolean;
  /** Returns why a file is ignored, as a phrase for messages; `null` if it is not. */
  whyIgnored: (path: string) => string | null;
}

/**
 * Creates a filter from patterns in gitignore syntax, added to the built-in ones.
 *
 * @param patterns - the config's `ignore`, then the lines of `.botsyncignore`; the last match wins.
 * @param isProtected - paths that are ignored whatever the patterns say (config, state file, secrets).
 */
export function createFilter(
  patterns: readonly string[],
  isProtected: (path: string) => boolean,
): PathFilter {
  const lines = [...DEFAULT_IGNORE, ...patterns];
  // A pattern without a slash before its end matches names only. If all patterns do, it is enough to check the name:
  // parents were checked on the way down.
  const byNameOnly = lines.every((line) => !line.trim().replace(/\/$/u, '').includes('/'));
  const matchesAny = matcherOf(lines);
  const matchesOwn = patterns.length === 0 ? () => false : matcherOf(patterns);
  // Where no built-in pattern matches, only the others decide.
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
