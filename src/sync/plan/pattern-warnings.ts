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

/**
 * Warns once of rules and announced patterns that match no file, after the first pass that found files and saw all of
 * them. A pattern that stops matching later, because files were deleted, is no mistake.
 */
export class PatternWarnings {
  readonly #config: Config;
  readonly #warn: (message: string) => void;
  #isDone = false;

  constructor(config: Config, warn: (message: string) => void) {
    this.#config = config;
    this.#warn = warn;
  }

  /** Notes a finished pass. `seen`: the sources of which it saw every file. */
  passWalked(seen: readonly Source[]): void {
    if (this.#isDone || seen.length < this.#config.sources.length) return;
    this.#isDone = seen.some(({ rules }) => rules.met.hasFiles());
    for (const { field, message, hint } of unmatchedPatterns(this.#config, seen))
      this.#warn(`${field} ${message}; ${hint}`);
  }
}

/** Warns once of each kind of file that a rule says to index, but the platform may not index. */
export class IndexWarnings {
  readonly #known: ReadonlySet<string>;
  readonly #warn: (message: string) => void;
  readonly #told = new Set<string>();

  /** @param extensions - `limits.indexableExtensions`: lower case, without a dot. */
  constructor(extensions: readonly string[], warn: (message: string) => void) {
    this.#known = new Set(extensions);
    this.#warn = warn;
  }

  /** Checks a file that is about to be sent with `index`. */
  note(path: string): void {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const dot = name.lastIndexOf('.');
    const extension = dot <= 0 ? '' : name.slice(dot + 1).toLowerCase();
    if (this.#known.has(extension) || this.#told.has(extension)) return;
    this.#told.add(extension);
    const kind = extension === '' ? 'files without an extension' : `.${extension} files`;
    this.#warn(
      `a rule says to index ${kind}, which limits.indexableExtensions does not list; they are sent anyway`,
    );
  }
}
