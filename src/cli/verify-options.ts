import type { GlobalOptions } from './global-options.ts';

/** Options of `botsync verify`. */
export interface VerifyOptions extends GlobalOptions {
  /** Contents are read as well. */
  readonly content: boolean;
  /** What is ours is repaired. */
  readonly repair: boolean;
  /** Orphans are removed. */
  readonly prune: boolean;
  readonly allowRemovals: boolean;
}
