import { RequestLog } from './request-log.ts';

/** Requests are counted over these times, milliseconds; the busier one counts. */
const SHORT_MS = 1000;
const LONG_MS = 5000;

/** Somebody who always waited for so long is hungry: nobody knows how much it could use, milliseconds. */
const HUNGRY_MS = 1000;

/** Who is not hungry wants so much more than it uses, so that it can begin to use more. */
const HEADROOM_PART = 0.25;

/** Finds how many requests a second could be used, from those that were released and those that wait. */
export class RequestWish {
  readonly #log = new RequestLog(LONG_MS);

  /** Takes note of a request that is released now. */
  released(nowMs: number): void {
    this.#log.add(nowMs);
  }

  /**
   * Requests a second; `Infinity`: more than there are.
   *
   * @param waiting - how many requests wait now.
   * @param waitingSinceMs - since when there was always one that waited.
   */
  perSecond(waiting: number, waitingSinceMs: number | null, nowMs: number): number {
    if (waitingSinceMs !== null && nowMs - waitingSinceMs >= HUNGRY_MS) return Infinity;
    const busiest = Math.max(
      ...[SHORT_MS, LONG_MS].map((ms) => (this.#log.count(nowMs - ms, nowMs) * 1000) / ms),
    );
    return busiest * (1 + HEADROOM_PART) + (waiting * 1000) / SHORT_MS;
  }
}
