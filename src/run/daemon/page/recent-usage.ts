import type { PageFacts } from '../../../page/facts.ts';
import { describeUsage } from '../../../words/usage.ts';
import type { PlatformAccess } from '../../platform/platform-access.ts';
import { SyncError } from '../../sync-error.ts';

/** Time for which an answer of the platform is reused, milliseconds, also if it failed. */
const KEPT_MS = 15 * 60_000;

/** Timeout for an answer, milliseconds. */
const PATIENCE_MS = 10_000;

/** The used part of the quotas, as the platform last reported it. Asks only while the page is open. */
export class RecentUsage {
  readonly #platform: () => PlatformAccess | null;
  readonly #changed: () => void;
  #known: PageFacts['usage'] = null;
  #askedAtMs = -Infinity;

  /** @param changed - called after a new answer. */
  constructor(platform: () => PlatformAccess | null, changed: () => void) {
    this.#platform = platform;
    this.#changed = changed;
  }

  /** Returns the last answer; `null`: none. Starts a new request if the answer is too old. */
  lastKnown(): PageFacts['usage'] {
    const platform = this.#platform();
    if (platform !== null && Date.now() - this.#askedAtMs > KEPT_MS) {
      this.#askedAtMs = Date.now();
      void this.#ask(platform);
    }
    return this.#known;
  }

  async #ask({ clients }: PlatformAccess): Promise<void> {
    try {
      const asked = await clients.usage().all(AbortSignal.timeout(PATIENCE_MS));
      this.#known =
        asked.kind === 'ok' ? { lines: describeUsage(asked.value, null), askedAtMs: Date.now() } : null;
      this.#changed();
    } catch (error) {
      // The configuration does not permit asking.
      if (!(error instanceof SyncError)) throw error;
      this.#known = null;
    }
  }
}
