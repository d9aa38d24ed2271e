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
 * Which files of a source a pass reads again though nothing tells that they changed, for where not every change can be
 * told. Where every change shows it is never asked, and costs nothing.
 */
export class Rereading {
  readonly #state: StateReader;
  readonly #target: number;
  readonly #source: string;
  readonly #nowMs: number;
  #part: RereadPart | null = null;

  /** @param nowMs - when the pass came to the source, epoch milliseconds. */
  constructor(state: StateReader, target: number, source: string, nowMs: number) {
    this.#state = state;
    this.#target = target;
    this.#source = source;
    this.#nowMs = nowMs;
  }

  /** Whether it is a file's turn. */
  readonly isTurnOf = (path: string): boolean => {
    this.#part ??= this.#partOfNow();
    return isOnPart(path, this.#part);
  };

  /** All whose turn it was were read. */
  save(state: StateStore): void {
    if (this.#part !== null) state.saveRereading(this.#source, afterPart(this.#part, this.#nowMs));
  }

  #partOfNow(): RereadPart {
    const since = this.#state.rereading(this.#source) ?? firstRereadState(this.#nowMs);
    const totalBytes = this.#state.bytesWithoutStamps(this.#target, this.#source);
    return rereadPart(since, this.#nowMs, totalBytes);
  }
}
