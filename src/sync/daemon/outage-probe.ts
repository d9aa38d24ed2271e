import type { StateStore } from '../../store/state-store.ts';
import type { SyncContext } from '../pass/sync-context.ts';
import { targetOf } from '../sources/source.ts';

/** In an outage that nobody waits for, one file after the other finds out whether it is over. */
export class OutageProbe {
  readonly #state: StateStore;
  readonly #want: (source: string, path: string) => void;
  /** The file that tried last. */
  #probed = { source: '', path: '' };

  /** @param want - has a file be sent. */
  constructor(state: StateStore, want: (source: string, path: string) => void) {
    this.#state = state;
    this.#want = want;
  }

  /** Has the next file try, if it is time. */
  probe({ breaker, config, platformName, walkStates }: SyncContext): void {
    if (!breaker.isProbeDue) return;
    for (const after of [this.#probed, { source: '', path: '' }]) {
      for (const source of [...config.sources].sort((a, b) => (a.name < b.name ? -1 : 1))) {
        if (source.name < after.source || walkStates.get(source.name) === 'halted') continue;
        const target = this.#state.targetId(targetOf(config, source, platformName));
        const path = this.#state.nextUnsent(
          target,
          source.name,
          source.name === after.source ? after.path : '',
        );
        if (path === null) continue;
        this.#probed = { source: source.name, path };
        this.#want(source.name, path);
        return;
      }
    }
  }
}
