import type { AnswerHeaders } from './answer.ts';
import type { RateLimit } from './options.ts';

/** What a request may do, and the headers that say so. */
export interface RateVerdict {
  readonly allowed: boolean;
  /** For the answer of any request. */
  readonly headers: AnswerHeaders;
  /** Besides, for a refusal. */
  readonly refusalHeaders: AnswerHeaders;
}

/** Counts requests in windows, fixed or sliding. Source: platform-facts.md, Rate limits. */
export class RateLimiter {
  readonly #limit: RateLimit;
  /** Of the requests that count at present: when they came (fixed: when their window began), oldest first. */
  #counted: number[] = [];

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  /** Counts one request at `now` (epoch ms). */
  admit(now: number): RateVerdict {
    const { requests, windowMs, window = 'fixed', tells = 'all' } = this.#limit;
    this.#counted = this.#counted.filter((from) => now < from + windowMs);
    const allowed = this.#counted.length < requests;
    if (allowed) this.#counted.push(window === 'sliding' ? now : (this.#counted[0] ?? now));
    const oldest = this.#counted[0] ?? now;
    const resetSeconds = String(Math.ceil((oldest + windowMs - now) / 1000));
    return {
      allowed,
      headers:
        tells === 'all'
          ? {
              'RateLimit-Limit': String(requests),
              'RateLimit-Remaining': String(requests - this.#counted.length),
              'RateLimit-Reset': resetSeconds,
            }
          : {},
      refusalHeaders: tells === 'nothing' ? {} : { 'Retry-After': resetSeconds },
    };
  }
}
