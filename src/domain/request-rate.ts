import { areThereOthers, OtherClients, RequestLog } from './other-clients.ts';

/** platform-facts.md, Rate limits. */
export interface RateLimitReport {
  /** Requests a window; `null`: unknown. */
  readonly limit: number | null;
  /** At the time of the answer. */
  readonly remaining: number;
  /** Milliseconds; `null`: unknown. */
  readonly resetMs: number | null;
  /** Milliseconds; `null`: unknown. */
  readonly windowMs: number | null;
}

export interface AnsweredRequest {
  /** By the monotonic clock. */
  readonly releasedAtMs: number;
  /** The platform refused the request because of its rate limit (429). */
  readonly wasLimited: boolean;
  /** `null`: the answer has no rate limit. */
  readonly report: RateLimitReport | null;
}

/** The window of a platform that names none: "about 100 requests a second" (platform-facts.md, Rate limits). */
const USUAL_WINDOW_MS = 1000;

/**
 * Windows up to this length are paced evenly. In longer ones only the last requests are spread: nobody waits while there is
 * budget.
 */
const LONGEST_PACED_WINDOW_MS = 2000;

/** Interval of requests until the first answer shows whether there is a limit, milliseconds. */
const FIRST_INTERVAL_MS = 50;

/** Requests of a window that are left free, … */
const SPARE = 1;

/**
 * … and the part of our own use that is left free. Beside other clients it is larger, so that a client that takes more leaves
 * more, until all have the same share.
 */
const SPARE_PART_ALONE = 0.01;
const SPARE_PART_BESIDE_OTHERS = 0.06;

/**
 * A client that takes more than the others leaves up to this many times as much; one that takes less leaves as many times less.
 */
const MOST_CONCESSION = 3;

/** Other clients below this part of the limit get no such concession: they may not want more. */
const CONCESSION_FROM_PART = 0.15;

/**
 * A client that takes less than this part of what the others take is one of several, whose requests meet by chance: then this
 * part of the limit is left free as well.
 */
const SEVERAL_FROM_PART = 1 / 2;
const SPARE_PART_OF_SEVERAL = 0.01;

/**
 * A client below this part of the limit, beside others, gains the missing part within this time, milliseconds: the same for all,
 * so that nobody starves.
 */
const FEW_PART = 1 / 5;
const GAINED_WITHIN_MS = 5000;

/** Time constants, milliseconds. */
const RISE_MS = 700;
const FALL_MS = 80;

/** The rate starts at this part of what seems to be free: others may have started at the same moment. */
const FIRST_PART = 1 / 3;

/** After a longer time without answers the rate changes as if only this long had passed, milliseconds. */
const LONGEST_STEP_MS = 100;

/** This many requests of a long window, or this part, are spread over the remaining time. */
const SPREAD_BELOW = 32;
const SPREAD_BELOW_PART = 0.1;

const LONGEST_INTERVAL_MS = 10_000;

/**
 * When a long window is renewed, one request asks for the new limit, and the others wait this long for its answer, milliseconds.
 */
const PROBE_MS = 250;

/** After the last request of a paced window nothing is sent for this part of it: by then other requests have left it. */
const REST_PART = 1 / 20;

/** Factor of the rate after a 429. */
const PART_AFTER_REFUSAL = 0.9;

/**
 * Where the platform reports no limit, the rate starts at this part of the requests that passed, at least this many a second, …
 */
const FIRST_FOUND_PART = 0.5;
const NEWCOMER_PER_SECOND = 20;

/** … and doubles in this time until the next refusal, milliseconds. */
const DOUBLING_MS = 4000;

/** A rate found this way is held for this long per request a second, milliseconds: a client with few asks for more first. */
const HELD_MS_A_REQUEST = 600;

/** Then the rate grows faster and faster, whatever it was: after t seconds by half of this times t². Requests a second. */
const GROWTH = 0.05;

/** Factor of a rate that was refused after it had grown. */
const PART_AFTER_GROWTH = 0.98;

/** When less than this part of the rate passed, others take much more than was thought. */
const FAR_OFF_PART = 0.8;

/** The lowest rate: requests a second, and part of the limit. */
const LOWEST_PER_SECOND = 1;
const LOWEST_PART = 0.02;

/** A limit above this many requests a minute counts as none. */
const BEYOND_ANY_LIMIT = 1e9;

/** A timer that fires late by up to this long is compensated, milliseconds; idle time is not. */
const LONGEST_CATCH_UP_MS = 20;

/** A rate found by refusals. `isFirst`: after the first refusal. */
interface FoundRate {
  readonly perSecond: number;
  readonly atMs: number;
  readonly isFirst: boolean;
}

/**
 * Finds the rate of requests that the platform allows, from its answers. Does not wait; the caller does.
 *
 * Where answers report the requests left in a sliding window, that number and our own use give our share without a search. Each
 * client leaves a part of its own use free, so that several such clients end up with equal shares. Where nothing is reported,
 * requests are not paced until the first 429: then the rate increases by the same amount for all and decreases in proportion
 * (docs/decisions/0028-the-rate-of-requests.md).
 */
export class RequestRate {
  readonly #log = new RequestLog(2 * LONGEST_PACED_WINDOW_MS);
  readonly #others = new OtherClients();
  #intervalMs = FIRST_INTERVAL_MS;
  #lastReleaseMs = -Infinity;
  /** When a long window that is used up, or nearly, is renewed. */
  #renewedAtMs: number | null = null;
  #isAnswered = false;
  /** The largest sum of our own and the remaining requests, for a platform that does not report its limit. */
  #mostSeen = 0;
  /** Our requests a window; `null`: the window is not paced. */
  #share: number | null = null;
  #lastReportMs = -Infinity;
  /** Refusals of requests released before this moment are no news. */
  #reactedAtMs = -Infinity;
  #found: FoundRate | null = null;
  #limitPerMinute: number | null = null;

  /** The platform's limit as last reported or found, requests a minute; `null`: unknown. */
  get limitPerMinute(): number | null {
    return this.#limitPerMinute;
  }

  /** Returns when the next request may be released, by the monotonic clock. */
  nextAtMs(nowMs: number): number {
    if (this.#found === null) {
      const dueMs = this.#lastReleaseMs + this.#intervalMs;
      return this.#renewedAtMs === null ? dueMs : Math.min(dueMs, this.#renewedAtMs);
    }
    this.#intervalMs = 1000 / foundRate(this.#found, nowMs);
    return this.#lastReleaseMs + this.#intervalMs;
  }

  released(nowMs: number): void {
    const dueMs = this.#lastReleaseMs + this.#intervalMs;
    this.#lastReleaseMs = nowMs - dueMs > LONGEST_CATCH_UP_MS ? nowMs : Math.min(nowMs, dueMs);
    this.#log.add(nowMs);
    if (this.#renewedAtMs !== null && nowMs >= this.#renewedAtMs) {
      this.#renewedAtMs = null;
      this.#intervalMs = PROBE_MS;
    }
  }

  /** Records an answer. Returns for how long to send nothing, milliseconds: more than 0 once the limit is used up. */
  answered(answer: AnsweredRequest, nowMs: number): number {
    const { wasLimited, report, releasedAtMs } = answer;
    if (wasLimited) this.#log.remove(releasedAtMs);
    const isFirst = !this.#isAnswered;
    this.#isAnswered = true;
    if (report !== null) return this.#follow(answer, report, nowMs);
    if (wasLimited) return this.#find(releasedAtMs, nowMs);
    if (isFirst) this.#intervalMs = 0;
    return 0;
  }

  /** For answers that report the remaining requests. */
  #follow(answer: AnsweredRequest, report: RateLimitReport, nowMs: number): number {
    const windowMs = report.windowMs ?? Math.max(USUAL_WINDOW_MS, report.resetMs ?? 0);
    this.#found = null;
    this.#renewedAtMs = null;
    if (windowMs > LONGEST_PACED_WINDOW_MS) {
      this.#spread(report, windowMs, nowMs);
      if (report.limit !== null) this.#noteLimit(report.limit, windowMs);
      return report.remaining === 0 ? (report.resetMs ?? windowMs) : 0;
    }
    this.#share = this.#shareAfter(answer, report, windowMs, nowMs);
    this.#intervalMs = windowMs / this.#share;
    this.#noteLimit(report.limit ?? this.#mostSeen, windowMs);
    return report.remaining === 0 ? Math.min(report.resetMs ?? windowMs, windowMs * REST_PART) : 0;
  }

  #noteLimit(limit: number, windowMs: number): void {
    const perMinute = Math.round((limit * 60_000) / windowMs);
    this.#limitPerMinute = perMinute > BEYOND_ANY_LIMIT ? null : perMinute;
  }

  #shareAfter(
    { releasedAtMs, wasLimited }: AnsweredRequest,
    { remaining, limit: told }: RateLimitReport,
    windowMs: number,
    nowMs: number,
  ): number {
    const own = this.#log.count(releasedAtMs - windowMs, releasedAtMs);
    this.#mostSeen = Math.max(this.#mostSeen, own + remaining);
    const limit = told ?? this.#mostSeen;
    const taken = Math.max(0, limit - own - remaining);
    const expected = this.#others.note(taken, limit, windowMs, nowMs);
    const spare = SPARE + (own < taken * SEVERAL_FROM_PART ? limit * SPARE_PART_OF_SEVERAL : 0);
    const wanted = (limit - expected - spare) / (1 + sparePart(own, taken, limit));
    const before = this.#share ?? wanted * FIRST_PART;
    const elapsedMs = Math.min(nowMs - this.#lastReportMs, LONGEST_STEP_MS);
    this.#lastReportMs = nowMs;
    const followed = 1 - Math.exp(-elapsedMs / (wanted > before ? RISE_MS : FALL_MS));
    const missing = areThereOthers(taken, limit) ? Math.max(0, limit * FEW_PART - before) : 0;
    const share = before + followed * (wanted - before) + missing * (elapsedMs / GAINED_WITHIN_MS);
    const lowest = Math.max((LOWEST_PER_SECOND * windowMs) / 1000, limit * LOWEST_PART);
    const isNews = wasLimited && releasedAtMs > this.#reactedAtMs;
    if (isNews) this.#reactedAtMs = nowMs;
    return Math.max(lowest, isNews ? share * PART_AFTER_REFUSAL : share);
  }

  /** Spreads the last requests of a long window over the rest of it. */
  #spread({ limit, remaining, resetMs }: RateLimitReport, windowMs: number, nowMs: number): void {
    this.#share = null;
    const isPlenty = remaining >= Math.max(SPREAD_BELOW, (limit ?? 0) * SPREAD_BELOW_PART);
    const leftMs = resetMs ?? windowMs;
    this.#intervalMs = isPlenty ? 0 : Math.min(leftMs / Math.max(1, remaining), LONGEST_INTERVAL_MS);
    this.#renewedAtMs = isPlenty ? null : nowMs + leftMs;
  }

  /** For a 429 without a reported limit. Returns for how long to send nothing, milliseconds. */
  #find(releasedAtMs: number, nowMs: number): number {
    if (releasedAtMs <= this.#reactedAtMs) return 0;
    // The effect of a new rate shows once a whole window has passed.
    this.#reactedAtMs = nowMs + USUAL_WINDOW_MS;
    const passed = this.#log.count(releasedAtMs - USUAL_WINDOW_MS, releasedAtMs);
    const isFirst = this.#found === null;
    const perSecond =
      this.#found === null
        ? Math.max(NEWCOMER_PER_SECOND, passed * FIRST_FOUND_PART)
        : Math.max(LOWEST_PER_SECOND, rateAfterRefusal(this.#found, passed, nowMs));
    this.#found = { perSecond, atMs: nowMs, isFirst };
    this.#noteLimit(perSecond, 1000);
    // Requests of a burst before the first refusal are still in the window.
    return isFirst ? USUAL_WINDOW_MS : 0;
  }
}

function sparePart(own: number, taken: number, limit: number): number {
  if (!areThereOthers(taken, limit)) return SPARE_PART_ALONE;
  const most = taken > limit * CONCESSION_FROM_PART ? MOST_CONCESSION : 1;
  return SPARE_PART_BESIDE_OTHERS * Math.min(most, Math.max(1 / MOST_CONCESSION, own / taken));
}

/** `passed`: requests that were not refused in the second before. */
function rateAfterRefusal(found: FoundRate, passed: number, nowMs: number): number {
  const before = foundRate(found, nowMs);
  // The low number may be due to a pause.
  const least = Math.max(passed, before / 2);
  if (found.isFirst || least < before * FAR_OFF_PART)
    return Math.min(before * PART_AFTER_REFUSAL, least * PART_AFTER_GROWTH);
  return before * (grownForMs(found, nowMs) > 0 ? PART_AFTER_GROWTH : PART_AFTER_REFUSAL);
}

function foundRate(found: FoundRate, nowMs: number): number {
  const { perSecond, atMs, isFirst } = found;
  if (isFirst) return perSecond * 2 ** ((nowMs - atMs) / DOUBLING_MS);
  return perSecond + (GROWTH / 2) * (Math.max(0, grownForMs(found, nowMs)) / 1000) ** 2;
}

/** Returns how long a rate has grown since the end of its hold, milliseconds; below zero: still held. */
function grownForMs({ perSecond, atMs }: FoundRate, nowMs: number): number {
  return nowMs - atMs - perSecond * HELD_MS_A_REQUEST;
}
