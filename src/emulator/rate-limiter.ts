import type { RateLimit } from './options.ts';

/** What a request may do, and the headers that say so. */
export interface RateVerdict {
  readonly allowed: boolean;
  readonly resetSeconds: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Counts requests in fixed windows, the first starting with the first request. Source: platform-facts.md, Rate limits. */
export class RateLimiter {
  readonly #limit: RateLimit;
  #windowStart = -Infinity;
  #used = 0;

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  /** Counts one request at `now` (epoch ms). */
  admit(now: number): RateVerdict {
    if (now >= this.#windowStart + this.#limit.windowMs) {
      this.#windowStart = now;
      this.#used = 0;
    }
    this.#used += 1;
    const resetSeconds = Math.ceil((this.#windowStart + this.#limit.windowMs - now) / 1000);
    return {
      allowed: this.#used <= this.#limit.requests,
      resetSeconds,
      headers: {
        'RateLimit-Limit': String(this.#limit.requests),
        'RateLimit-Remaining': String(Math.max(0, this.#limit.requests - this.#used)),
        'RateLimit-Reset': String(resetSeconds),
      },
    };
  }
}
