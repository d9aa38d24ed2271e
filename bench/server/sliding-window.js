/**
 * So many requests in any window of time, whoever sends them: a refused one does not count. `conditions`: `requests`,
 * `windowMs`, and whether answers carry `headers` (`RateLimit-*`) and a 429 says `retryAfter`.
 */
export class SlidingWindow {
  #conditions;
  /** When the requests of the current window were admitted, oldest first, milliseconds. */
  #admitted = [];

  constructor(conditions) {
    this.#conditions = { windowMs: 1000, headers: true, retryAfter: false, ...conditions };
  }

  /** Whether a request passes, and the headers of its answer. */
  admit(nowMs) {
    const { requests, windowMs, headers, retryAfter } = this.#conditions;
    while (this.#admitted.length > 0 && this.#admitted[0] <= nowMs - windowMs) this.#admitted.shift();
    const isAdmitted = this.#admitted.length < requests;
    if (isAdmitted) this.#admitted.push(nowMs);
    const resetSeconds = Math.ceil((this.#admitted[0] + windowMs - nowMs) / 1000);
    const told = {};
    if (headers) {
      told['ratelimit-limit'] = String(requests);
      told['ratelimit-remaining'] = String(requests - this.#admitted.length);
      told['ratelimit-reset'] = String(resetSeconds);
    }
    if (!isAdmitted && retryAfter) told['retry-after'] = String(resetSeconds);
    return { isAdmitted, headers: told };
  }
}
