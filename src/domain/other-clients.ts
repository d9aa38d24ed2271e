/** Requests of others above this part of the limit are not timing noise. */
const NOISE_PART = 0.04;

/** A surge of others must exceed the window's count by this part of the limit to be believed. */
const SURGE_PART = 0.25;

/** Minimum part of a window for one measurement of the rate. */
const STRETCH_PART = 1 / 8;

const LATEST = 2;

/** A time in which requests of others arrived evenly; `came`: their number. */
interface Interval {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly came: number;
}

/** Returns whether there are other clients: they use more of a limit than timing explains. */
export function areThereOthers(taken: number, limit: number): boolean {
  return taken > limit * NOISE_PART;
}

/**
 * Estimates the use of a sliding window of requests by other clients.
 *
 * The window counts a whole window's requests, so it shows late that others have started: two clients that start together would
 * each take everything for most of a window. Therefore this class tracks how fast the requests of others arrive.
 */
export class OtherClients {
  /** Oldest first, a little more than one window. */
  #stretches: Interval[] = [];
  #takenBefore = 0;

  /** Records the number of requests of others in the window now. Returns how many there will be at their current rate. */
  note(taken: number, limit: number, windowMs: number, nowMs: number): number {
    this.#follow(taken, windowMs, nowMs);
    const latest = this.#stretches.slice(-LATEST);
    const fromMs = latest[0]?.fromMs ?? nowMs;
    const untilMs = latest.at(-1)?.untilMs ?? nowMs;
    const came = latest.reduce((sum, one) => sum + one.came, 0);
    const expected = (came / Math.max(1, untilMs - fromMs)) * windowMs;
    const isSurge = areThereOthers(taken, limit) && expected > taken + limit * SURGE_PART;
    return isSurge ? Math.min(limit, expected) : taken;
  }

  #follow(taken: number, windowMs: number, nowMs: number): void {
    const fromMs = this.#stretches.at(-1)?.untilMs ?? -Infinity;
    const elapsedMs = nowMs - fromMs;
    if (elapsedMs < windowMs * STRETCH_PART) return;
    if (elapsedMs > windowMs / 2) {
      // The last measurement is too old to know when the requests arrived.
      this.#stretches = [{ fromMs: nowMs - windowMs, untilMs: nowMs, came: taken }];
    } else {
      // Some of the earlier requests have left the window: the rest of its content is new.
      const left = this.#cameBetween(fromMs - windowMs, nowMs - windowMs);
      const came = Math.max(0, taken - this.#takenBefore + left);
      this.#stretches.push({ fromMs, untilMs: nowMs, came });
      this.#stretches = this.#stretches.filter(({ untilMs }) => untilMs > nowMs - 2 * windowMs);
    }
    this.#takenBefore = taken;
  }

  #cameBetween(fromMs: number, untilMs: number): number {
    return this.#stretches.reduce((sum, one) => {
      const overlapMs = Math.min(untilMs, one.untilMs) - Math.max(fromMs, one.fromMs);
      return overlapMs <= 0 ? sum : sum + (one.came * overlapMs) / (one.untilMs - one.fromMs);
    }, 0);
  }
}

/** The times of released requests, for a limited time. By the monotonic clock, milliseconds. */
export class RequestLog {
  readonly #keptMs: number;
  /** Oldest first; those before `#start` are dropped. */
  #times: number[] = [];
  #start = 0;

  /** @param keptMs - how long a request is remembered. */
  constructor(keptMs: number) {
    this.#keptMs = keptMs;
  }

  add(nowMs: number): void {
    this.#times.push(nowMs);
    while ((this.#times[this.#start] ?? Infinity) < nowMs - this.#keptMs) this.#start += 1;
    if (this.#start > 1024 && this.#start * 2 > this.#times.length) {
      this.#times.splice(0, this.#start);
      this.#start = 0;
    }
  }

  /** Removes a released request that the platform did not count. */
  remove(releasedAtMs: number): void {
    const at = this.#firstAfter(releasedAtMs) - 1;
    if (at >= this.#start && this.#times[at] === releasedAtMs) this.#times.splice(at, 1);
  }

  /** Returns the number of requests released after `afterMs` and up to `untilMs`. */
  count(afterMs: number, untilMs: number): number {
    return this.#firstAfter(untilMs) - this.#firstAfter(afterMs);
  }

  /** Returns when the n-th last request was released, counted from 1; `null`: there were fewer. */
  last(n: number): number | null {
    const at = this.#times.length - n;
    return at < this.#start ? null : (this.#times[at] ?? null);
  }

  #firstAfter(timeMs: number): number {
    let low = this.#start;
    let high = this.#times.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#times[middle] ?? Infinity) <= timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
