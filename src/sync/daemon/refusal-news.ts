import type { Blockade } from '../pass/blockade.ts';
import type { DaemonObserver, Refusal } from './daemon-observer.ts';

/** Tells once when the platform begins to refuse everything of a kind, and once when it takes it again. */
export class RefusalNews {
  readonly #observer: DaemonObserver;
  readonly #told = new Set<Refusal>();

  constructor(observer: DaemonObserver) {
    this.#observer = observer;
  }

  /** What stands in the way now, as far as is known. */
  update({ refusal, shortage }: Pick<Blockade, 'refusal' | 'shortage'>): void {
    this.#update('credentials', refusal);
    this.#update('quota', shortage);
  }

  #update(kind: Refusal, reason: string | null): void {
    if (this.#told.has(kind) === (reason !== null)) return;
    if (reason === null) this.#told.delete(kind);
    else this.#told.add(kind);
    this.#observer.refused(kind, reason);
  }
}
