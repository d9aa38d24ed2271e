import type { StateStore } from '../../store/state-store.ts';
import type { SyncContext } from '../pass/sync-context.ts';
import { targetOf } from '../sources/source.ts';

/** During an outage in which no attempt waits, sends one file after the other to find out whether it is over. */
export class OutageProbe {
  readonly #state: StateStore;
  readonly #want: (source: string, path: string) => void;
  #probed = { source: '', path: '' };

  /** @param want - requests that a file be sent. */
  constructor(state: StateStore, want: (source: string, path: string) => void) {
    this.#state = state;
    this.#want = want;
  }

  /** Requests the next file, if a probe is due. */
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
