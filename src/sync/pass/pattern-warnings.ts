import type { Config } from '../../config/config.ts';
import { unmatchedPatterns } from '../plan/unmatched-patterns.ts';
import type { Source } from '../sources/source.ts';

/**
 * Warns of rules, and patterns to announce, that match no file: once, after the first pass that met files and saw every
 * one of all sources. What matches nothing later, since its files were deleted, is no mistake.
 */
export class PatternWarnings {
  readonly #config: Config;
  readonly #warn: (message: string) => void;
  #isDone = false;

  constructor(config: Config, warn: (message: string) => void) {
    this.#config = config;
    this.#warn = warn;
  }

  /** A pass has walked the sources. `seen`: those of which it saw every file. */
  passWalked(seen: readonly Source[]): void {
    if (this.#isDone || seen.length < this.#config.sources.length) return;
    this.#isDone = seen.some(({ rules }) => rules.met.hasFiles());
    for (const { field, message, hint } of unmatchedPatterns(this.#config, seen))
      this.#warn(`${field} ${message}; ${hint}`);
  }
}
