import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../domain/clock.ts';

/** Node's timers hold 31 bits: a longer delay would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Real time, for code that tests do not control by a clock. Its timers keep no process alive. */
export const realTimer = {
  now: (): number => performance.now(),
  after: (ms: number, run: () => void): void => {
    setTimeout(run, ms).unref();
  },
};

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    const untilMs = performance.now() + ms;
    for (let leftMs = ms; leftMs > 0 && !signal.aborted; leftMs = untilMs - performance.now()) {
      await delay(Math.min(leftMs, LONGEST_TIMER_MS), undefined, { signal }).catch(() => undefined);
    }
  },
};
