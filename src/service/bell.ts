import type { Clock } from '../domain/clock.ts';

/** Lets a loop sleep until there is something to do. A ring that nobody waits for is kept for the next wait. */
export class Bell {
  #rung = false;
  #wake: (() => void) | null = null;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Resolves when the bell rings, after `ms`, or when the signal aborts. */
  async wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung && !signal.aborted) {
      const waiting = new AbortController();
      const wake = (): void => {
        waiting.abort();
      };
      this.#wake = wake;
      signal.addEventListener('abort', wake);
      await clock.sleep(ms, waiting.signal);
      signal.removeEventListener('abort', wake);
      this.#wake = null;
    }
    this.#rung = false;
  }
}
