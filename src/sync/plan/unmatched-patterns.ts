import { lstatSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import { hintForPatterns, type PatternPlace } from '../../domain/pattern.ts';
import type { Source } from '../sources/source.ts';

/** A rule, or a pattern of files to announce, that matches no file. */
export interface UnmatchedPattern {
  /** Its place in the configuration: `rules[1]`. */
  readonly field: string;
  readonly message: string;
  /** A suggestion, where possible. */
  readonly hint: string;
}

/**
 * Returns the rules and announced patterns that match no file of the sources to which they apply.
 *
 * @param seen - the sources of which every file was checked. Patterns that apply to other sources, or only to sources
 * without files, are not judged.
 */
export function unmatchedPatterns(
  { rules, sources, notify }: Pick<Config, 'rules' | 'sources' | 'notify'>,
  seen: readonly Source[],
): UnmatchedPattern[] {
  /** Returns the sources to which a pattern applies; empty if it cannot be judged. */
  const placesOf = (names: readonly string[] | null): readonly Source[] => {
    const places = seen.filter(({ config }) => names === null || names.includes(config.name));
    const areAllSeen = places.length === (names === null ? sources.length : new Set(names).size);
    return areAllSeen && places.some(({ rules: { met } }) => met.hasFiles()) ? places : [];
  };
  const unmatched = (
    field: string,
    patterns: readonly string[],
    places: readonly Source[],
  ): UnmatchedPattern => ({
    field,
    message: `matches no file (${patterns.map((pattern) => JSON.stringify(pattern)).join(', ')})`,
    hint: hintFor(patterns, places),
  });
  const ruled = rules.flatMap(({ match, sources: names }, position) => {
    const places = placesOf(names);
    if (places.length === 0 || places.some((source) => source.rules.met.rules.has(position))) return [];
    return [unmatched(`rules[${position}]`, match, places)];
  });
  const everywhere = placesOf(null);
  const announced = (notify?.announce ?? []).flatMap((pattern) =>
    everywhere.length > 0 && everywhere.every((source) => source.rules.met.unmet().includes(pattern))
      ? [unmatched('notify.announce', [pattern], everywhere)]
      : [],
  );
  return [...ruled, ...announced];
}

/** Suggests replacements for patterns that match no file of these sources. */
export function hintFor(patterns: readonly string[], sources: readonly Source[]): string {
  return hintForPatterns(patterns, sources.map(placeOf));
}

function placeOf({ config, root }: Source): PatternPlace {
  const hasDirectory = (path: string): boolean => {
    if (path === '' || path.includes('\0')) return false;
    try {
      return lstatSync(`${root}/${path}`).isDirectory();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      return false;
    }
  };
  return { name: config.name, directory: root, keyPrefix: config.keyPrefix, hasDirectory };
}
