import type { PageFacts } from '../../../page/facts.ts';
import { describeUsage } from '../../../words/usage.ts';
import type { PlatformAccess } from '../../platform/platform-access.ts';
import { SyncError } from '../../sync-error.ts';

/** What the platform said counts for so long, milliseconds, and so does that it said nothing. */
const KEPT_MS = 15 * 60_000;

/** It is waited for so long, milliseconds. */
const PATIENCE_MS = 10_000;

/** How much of the quotas is used, as the platform said it lately. It is asked only while somebody looks. */
export class RecentUsage {
  readonly #platform: () => PlatformAccess | null;
  readonly #changed: () => void;
  #known: PageFacts['usage'] = null;
  #askedAtMs = -Infinity;

  /** @param changed - called when it is known anew. */
  constructor(platform: () => PlatformAccess | null, changed: () => void) {
    this.#platform = platform;
    this.#changed = changed;
  }

  /** What is known; `null`: nothing. Asks for what is too old, without waiting for the answer. */
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
      // The configuration does not let it be asked.
      if (!(error instanceof SyncError)) throw error;
      this.#known = null;
    }
  }
}
