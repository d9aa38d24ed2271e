import {
  afterPart,
  firstRereadState,
  isOnPart,
  rereadPart,
  type RereadPart,
} from '../../domain/rereading.ts';
import type { StateReader } from '../../store/state-reader.ts';
import type { StateStore } from '../../store/state-store.ts';

/**
 * Selects the files of a source that a pass reads again without a sign of a change, where fingerprints do not show
 * every change. Elsewhere it is never called, and costs nothing.
 */
export class Rereading {
  readonly #state: StateReader;
  readonly #target: number;
  readonly #source: string;
  readonly #nowMs: number;
  #part: RereadPart | null = null;

  /** @param nowMs - when the pass reached the source, epoch milliseconds. */
  constructor(state: StateReader, target: number, source: string, nowMs: number) {
    this.#state = state;
    this.#target = target;
    this.#source = source;
    this.#nowMs = nowMs;
  }

  /** Returns whether this pass reads a file again. */
  readonly isTurnOf = (path: string): boolean => {
    this.#part ??= this.#partOfNow();
    return isOnPart(path, this.#part);
  };

  /** Records that all selected files were read. */
  save(state: StateStore): void {
    if (this.#part !== null) state.saveRereading(this.#source, afterPart(this.#part, this.#nowMs));
  }

  #partOfNow(): RereadPart {
    const since = this.#state.rereading(this.#source) ?? firstRereadState(this.#nowMs);
    const totalBytes = this.#state.bytesWithoutStamps(this.#target, this.#source);
    return rereadPart(since, this.#nowMs, totalBytes);
  }
}
