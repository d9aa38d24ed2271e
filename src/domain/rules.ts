import mime from 'mime-types';
import { compilePattern } from './pattern.ts';
import { resolveSettings, settingsDigest, type FileSettings, type RuleSettings } from './settings.ts';

export interface Rule {
  /** At least one pattern must match. */
  readonly match: readonly string[];
  /** Names of the sources that the rule applies to; `null`: all. */
  readonly sources: readonly string[] | null;
  readonly set: RuleSettings;
}

export interface ResolvedSettings {
  readonly settings: FileSettings;
  readonly digest: string;
}

export interface RuleBook {
  /** Returns the settings of the file at a path (relative to the source, NFC). */
  resolve: (path: string) => ResolvedSettings;
  /** Returns the positions in `rules` (from 0) of those that match a path, in order. */
  matching: (path: string) => number[];
  readonly met: MetPatterns;
}

/** The parts of the configuration that have matched a file. */
export interface MetPatterns {
  /** Positions in `rules`; grows as paths are resolved. */
  readonly rules: ReadonlySet<number>;
  /** Returns whether any path was resolved. */
  hasFiles: () => boolean;
  /** Returns the watched patterns that have matched nothing. */
  unmet: () => readonly string[];
}

/**
 * Compiles the rules that apply to a source.
 *
 * Files with the same matching rules and the same suggested content type share one settings object: a tree of a million files has
 * a handful of them. The creation of such an object also records which rules have matched, so that this costs nothing per file.
 *
 * @param watched - patterns for `MetPatterns.unmet`.
 */
export function compileRules(
  rules: readonly Rule[],
  source: string,
  suggestContentType: (path: string) => string,
  watched: readonly string[] = [],
): RuleBook {
  const compiled = rules.flatMap(({ match, sources, set }, position) => {
    if (sources !== null && !sources.includes(source)) return [];
    const patterns = match.map(compilePattern);
    return [{ position, set, matches: (path: string) => patterns.some((pattern) => pattern(path)) }];
  });
  const known = new Map<string, ResolvedSettings>();
  const met = new Set<number>();
  let unmet = watched.map((pattern) => ({ pattern, matches: compilePattern(pattern) }));
  return {
    met: {
      rules: met,
      hasFiles: () => known.size > 0,
      unmet: () => unmet.map(({ pattern }) => pattern),
    },
    matching: (path) => compiled.filter(({ matches }) => matches(path)).map(({ position }) => position),
    resolve: (path) => {
      if (unmet.some(({ matches }) => matches(path))) unmet = unmet.filter(({ matches }) => !matches(path));
      let identity = suggestContentType(path);
      for (const rule of compiled) if (rule.matches(path)) identity += `,${rule.position}`;
      let resolved = known.get(identity);
      if (resolved === undefined) {
        const matching = compiled.filter(({ matches }) => matches(path));
        const sets = matching.map(({ set }) => set);
        const settings = resolveSettings(sets, suggestContentType(path));
        for (const { position } of matching) met.add(position);
        resolved = { settings, digest: settingsDigest(settings) };
        known.set(identity, resolved);
      }
      return resolved;
    },
  };
}

const UNKNOWN = 'application/octet-stream';

/** A tree has few extensions and many files, so types are cached by extension. A full cache is cleared. */
const MOST_KNOWN = 1000;

const known = new Map<string, string>();

/** Returns the content type for a file's name, without charset; `application/octet-stream` for an unknown extension. */
export function suggestContentType(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  if (dot <= 0) return UNKNOWN;
  const extension = name.slice(dot + 1).toLowerCase();
  let type = known.get(extension);
  if (type === undefined) {
    type = mime.types[extension] ?? UNKNOWN;
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(extension, type);
  }
  return type;
}
