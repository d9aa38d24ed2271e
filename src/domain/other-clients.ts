/** Above this part of the limit the requests of others are no noise of our own timing. */
const NOISE_PART = 0.04;

/** So many more than the window tells must be on their way, as a part of the limit, to be believed. */
const SURGE_PART = 0.25;

/** How much of a window is looked at at least to see how fast requests come. */
const STRETCH_PART = 1 / 8;

/** Two stretches tell how fast they come now. */
const LATEST = 2;

/** A time in which requests of others came evenly. */
interface Interval {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly came: number;
}

/** Whether there are other clients: they take more of a limit than timing explains. */
export function areThereOthers(taken: number, limit: number): boolean {
  return taken > limit * NOISE_PART;
}

/**
 * What other clients take of a sliding window of requests.
 *
 * The window tells what they took in all of it, which is late to show that they have begun: two clients that start
 * together would each take everything for most of a window. So it is followed how fast their requests come.
 */
export class OtherClients {
  /** Oldest first, one window of them and a little more. */
  #stretches: Interval[] = [];
  #takenBefore = 0;

  /**
   * Takes note of how many requests of others are in the window now. Returns how many there will be if they go on as
   * they do.
   */
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
      // Nobody looked for too long to know when they came.
      this.#stretches = [{ fromMs: nowMs - windowMs, untilMs: nowMs, came: taken }];
    } else {
      // Of what was in the window before, some has left it by now: the rest of what is in it is new.
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

/** When requests were released, for as long as anybody asks about it. Times are those of the monotonic clock, milliseconds. */
export class RequestLog {
  readonly #keptMs: number;
  /** Oldest first; those before `#start` are forgotten. */
  #times: number[] = [];
  #start = 0;

  /** @param keptMs - how long a request is remembered. */
  constructor(keptMs: number) {
    this.#keptMs = keptMs;
  }

  /** Adds a request that is released now. */
  add(nowMs: number): void {
    this.#times.push(nowMs);
    while ((this.#times[this.#start] ?? Infinity) < nowMs - this.#keptMs) this.#start += 1;
    if (this.#start > 1024 && this.#start * 2 > this.#times.length) {
      this.#times.splice(0, this.#start);
      this.#start = 0;
    }
  }

  /** Takes back a request that was released at a moment: the platform did not count it. */
  remove(releasedAtMs: number): void {
    const at = this.#firstAfter(releasedAtMs) - 1;
    if (at >= this.#start && this.#times[at] === releasedAtMs) this.#times.splice(at, 1);
  }

  /** How many were released after one moment and up to another. */
  count(afterMs: number, untilMs: number): number {
    return this.#firstAfter(untilMs) - this.#firstAfter(afterMs);
  }

  /** When the n-th last request was released, from 1; `null`: there were fewer. */
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
