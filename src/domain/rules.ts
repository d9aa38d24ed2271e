import { compilePattern } from './pattern.ts';
import { resolveSettings, settingsDigest, type FileSettings, type RuleSettings } from './settings.ts';

/** One entry of the config's `rules`. */
export interface Rule {
  /** Patterns of which one has to match. */
  readonly match: readonly string[];
  /** Names of the sources it applies to; `null` is every source. */
  readonly sources: readonly string[] | null;
  readonly set: RuleSettings;
}

/** The settings of a file with their digest. */
export interface ResolvedSettings {
  readonly settings: FileSettings;
  readonly digest: string;
}

/** The rules of one source, compiled. */
export interface RuleBook {
  /** The settings of the file at a path (relative to the source, NFC). */
  resolve: (path: string) => ResolvedSettings;
  /** The positions in `rules` (from 0) of those that match a path, in order. */
  matching: (path: string) => number[];
  /** What the paths that were resolved so far have matched. */
  readonly met: MetPatterns;
}

/** What of the configuration has matched a file. */
export interface MetPatterns {
  /** Positions in `rules`; grows as paths are resolved. */
  readonly rules: ReadonlySet<number>;
  /** Whether any path was resolved. */
  hasFiles: () => boolean;
  /** Of the patterns that are only watched for, those that nothing has matched. */
  unmet: () => readonly string[];
}

/**
 * Compiles the rules that apply to a source.
 *
 * Files that the same rules match and whose names suggest the same content type share one settings object: a tree of
 * a million files has a handful of them. That is also how it is known which rules have matched anything: a file that
 * matches others than those before it asks for settings that are not there yet, and costs nothing else.
 *
 * @param watched - patterns of which it is noted whether anything matches them.
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
