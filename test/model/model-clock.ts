import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../src/domain/clock.ts';

/** A clock that stands still but for whoever sleeps, whom it does not keep waiting; it may differ from the platform's. */
export class ModelClock implements Clock {
  #monotonicMs = 0;
  #platformMs: number;
  /** By how much ours is ahead of the platform's, milliseconds. */
  skewMs = 0;

  /** @param nowMs - epoch milliseconds. */
  constructor(nowMs: number) {
    this.#platformMs = nowMs;
  }

  readonly now = (): number => this.#platformMs + this.skewMs;
  readonly platformNow = (): number => this.#platformMs;
  readonly monotonic = (): number => this.#monotonicMs;
  readonly sleep = async (ms: number): Promise<void> => {
    this.advance(Math.ceil(ms));
    await turn();
  };

  advance(ms: number): void {
    this.#monotonicMs += ms;
    this.#platformMs += ms;
  }
}
