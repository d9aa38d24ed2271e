import type { Config } from '../../config/config.ts';
import { unmatchedPatterns } from '../plan/unmatched-patterns.ts';
import type { Source } from '../sources/source.ts';

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
