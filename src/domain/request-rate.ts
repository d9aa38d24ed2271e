import { areThereOthers, OtherClients, RequestLog } from './other-clients.ts';

/** What an answer says of a rate limit (platform-facts.md, Rate limits). */
export interface RateLimitReport {
  /** Requests a window; `null`: not told. */
  readonly limit: number | null;
  /** Requests left in the window when the answer was made. */
  readonly remaining: number;
  /** Until the window is renewed, milliseconds; `null`: not told. */
  readonly resetMs: number | null;
  /** How long a window is, milliseconds; `null`: not told. */
  readonly windowMs: number | null;
}

/** What one answer tells. */
export interface AnsweredRequest {
  /** When the request was released, by the monotonic clock. */
  readonly releasedAtMs: number;
  /** Whether the platform refused it because of its rate limit (429). */
  readonly wasLimited: boolean;
  /** `null`: the answer says nothing of a limit. */
  readonly report: RateLimitReport | null;
}

/** The window of a platform that names none: "about 100 requests a second" (platform-facts.md, Rate limits). */
const USUAL_WINDOW_MS = 1000;

/** Windows up to this are paced evenly. Of longer ones only the last requests are spread: nobody waits for a budget that is there. */
const LONGEST_PACED_WINDOW_MS = 2000;

/** Until the first answer tells whether there is a limit, requests leave at this distance, milliseconds. */
const FIRST_INTERVAL_MS = 50;

/** So many requests of a window stay free, … */
const SPARE = 1;

/** … and this part of our own: the more beside others, so that a client that takes more leaves more, until all take the same. */
const SPARE_PART_ALONE = 0.01;
const SPARE_PART_BESIDE_OTHERS = 0.06;

/** A client that takes more than the others leaves up to this many times as much, one that takes less as many times less. */
const MOST_CONCESSION = 3;

/** Others that take less than this part of the limit get no such concession: they may want no more. */
const CONCESSION_FROM_PART = 0.15;

/** A client that takes less than this part of what the others take is one of several, which meet by chance: this part of the limit stays free as well. */
const SEVERAL_FROM_PART = 1 / 2;
const SPARE_PART_OF_SEVERAL = 0.01;

/** Who has less than this part of the limit beside others gains what is missing to it in this time, milliseconds: the same for all, so that nobody starves. */
const FEW_PART = 1 / 5;
const GAINED_WITHIN_MS = 5000;

/** How fast the rate follows what becomes free, and what is taken: time constants, milliseconds. */
const RISE_MS = 700;
const FALL_MS = 80;

/** The rate begins at this part of what seems to be free: others may have begun at the same moment. */
const FIRST_PART = 1 / 3;

/** After a longer time without answers the rate changes as if only so much had passed, milliseconds. */
const LONGEST_STEP_MS = 100;

/** Of a long window, this many requests, or this part, are spread over the time that is left. */
const SPREAD_BELOW = 32;
const SPREAD_BELOW_PART = 0.1;

/** A spread request waits no longer than this for its turn, milliseconds. */
const LONGEST_INTERVAL_MS = 10_000;

/** When a long window is renewed, one request goes ahead to find out about the next, and the others wait so long for its answer. */
const PROBE_MS = 250;

/** After the last request of a paced window nothing is sent for this part of it: by then others have left it. */
const REST_PART = 1 / 20;

/** After a 429 the rate is this part of what it was. */
const PART_AFTER_REFUSAL = 0.9;

/** Where nothing is told, a client begins with this part of what got through, and never with less than so many a second, … */
const FIRST_FOUND_PART = 0.5;
const NEWCOMER_PER_SECOND = 20;

/** … and doubles that in this time, until it is refused again. */
const DOUBLING_MS = 4000;

/** A rate that was found so is held for so long for each request a second: who has little asks for more first. */
const HELD_MS_A_REQUEST = 600;

/** Then it grows ever faster: after t seconds by half of this times t², whatever it was. Requests a second. */
const GROWTH = 0.05;

/** A rate that was refused because it had grown goes back to this part. */
const PART_AFTER_GROWTH = 0.98;

/** Less than this part of a rate got through: others take much more than was thought. */
const FAR_OFF_PART = 0.8;

/** Fewer than this many a second are never asked for, nor less than this part of the limit. */
const LOWEST_PER_SECOND = 1;
const LOWEST_PART = 0.02;

/** A limit above so many requests a minute is none. */
const BEYOND_ANY_LIMIT = 1e9;

/** A timer that fires late by up to this is made up for, milliseconds; a time of rest is not. */
const LONGEST_CATCH_UP_MS = 20;

/** A rate that was found by being refused. `isFirst`: since the only refusal so far. */
interface FoundRate {
  readonly perSecond: number;
  readonly atMs: number;
  readonly isFirst: boolean;
}

/**
 * Finds the rate of requests that the platform grants, from what its answers say. Pure bookkeeping: the caller waits.
 *
 * Where answers tell how many requests of a sliding window are left, what we used of it and what is left is what there
 * is for us; no search is needed. Each client leaves a part of its own use free, so that several that do the same end up
 * with equal shares. Where nothing is told nothing is paced, until a 429 shows that there is a limit: then increase that is the same for
 * all meets decrease in proportion (docs/decisions/0028-the-rate-of-requests.md).
 */
export class RequestRate {
  readonly #log = new RequestLog(2 * LONGEST_PACED_WINDOW_MS);
  readonly #others = new OtherClients();
  #intervalMs = FIRST_INTERVAL_MS;
  #lastReleaseMs = -Infinity;
  /** When a long window that is used up, or nearly, is renewed. */
  #renewedAtMs: number | null = null;
  #isAnswered = false;
  /** The most that was ever left and ours together, for a platform that does not tell its limit. */
  #mostSeen = 0;
  /** Our requests a window; `null`: the window is not paced. */
  #share: number | null = null;
  #lastReportMs = -Infinity;
  /** Refused requests that were released before this tell nothing new. */
  #reactedAtMs = -Infinity;
  #found: FoundRate | null = null;
  #limitPerMinute: number | null = null;

  /** The platform's limit as an answer told it last, or as it was found, requests a minute; `null`: none is known. */
  get limitPerMinute(): number | null {
    return this.#limitPerMinute;
  }

  /** When the next request may be released, by the monotonic clock. */
  nextAtMs(nowMs: number): number {
    if (this.#found === null) {
      const dueMs = this.#lastReleaseMs + this.#intervalMs;
      return this.#renewedAtMs === null ? dueMs : Math.min(dueMs, this.#renewedAtMs);
    }
    this.#intervalMs = 1000 / foundRate(this.#found, nowMs);
    return this.#lastReleaseMs + this.#intervalMs;
  }

  /** Takes note of a request that is released now. */
  released(nowMs: number): void {
    const dueMs = this.#lastReleaseMs + this.#intervalMs;
    this.#lastReleaseMs = nowMs - dueMs > LONGEST_CATCH_UP_MS ? nowMs : Math.min(nowMs, dueMs);
    this.#log.add(nowMs);
    if (this.#renewedAtMs !== null && nowMs >= this.#renewedAtMs) {
      this.#renewedAtMs = null;
      this.#intervalMs = PROBE_MS;
    }
  }

  /** Takes note of an answer. Returns for how long nothing is to be sent, milliseconds: the limit is used up. */
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

  /** The platform tells what is left. */
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

  /** The last requests of a long window are spread over what is left of it. */
  #spread({ limit, remaining, resetMs }: RateLimitReport, windowMs: number, nowMs: number): void {
    this.#share = null;
    const isPlenty = remaining >= Math.max(SPREAD_BELOW, (limit ?? 0) * SPREAD_BELOW_PART);
    const leftMs = resetMs ?? windowMs;
    this.#intervalMs = isPlenty ? 0 : Math.min(leftMs / Math.max(1, remaining), LONGEST_INTERVAL_MS);
    this.#renewedAtMs = isPlenty ? null : nowMs + leftMs;
  }

  /** The platform tells nothing, but that it was too much. Returns for how long nothing is to be sent, milliseconds. */
  #find(releasedAtMs: number, nowMs: number): number {
    if (releasedAtMs <= this.#reactedAtMs) return 0;
    // What a change of the rate does is known once all of the window is under it.
    this.#reactedAtMs = nowMs + USUAL_WINDOW_MS;
    const passed = this.#log.count(releasedAtMs - USUAL_WINDOW_MS, releasedAtMs);
    const isFirst = this.#found === null;
    const perSecond =
      this.#found === null
        ? Math.max(NEWCOMER_PER_SECOND, passed * FIRST_FOUND_PART)
        : Math.max(LOWEST_PER_SECOND, rateAfterRefusal(this.#found, passed, nowMs));
    this.#found = { perSecond, atMs: nowMs, isFirst };
    this.#noteLimit(perSecond, 1000);
    // What left in a burst before the limit was found is still in the window.
    return isFirst ? USUAL_WINDOW_MS : 0;
  }
}

/** What part of its own use a client leaves free. */
function sparePart(own: number, taken: number, limit: number): number {
  if (!areThereOthers(taken, limit)) return SPARE_PART_ALONE;
  const most = taken > limit * CONCESSION_FROM_PART ? MOST_CONCESSION : 1;
  return SPARE_PART_BESIDE_OTHERS * Math.min(most, Math.max(1 / MOST_CONCESSION, own / taken));
}

/** `passed`: requests that were not refused in the second before. */
function rateAfterRefusal(found: FoundRate, passed: number, nowMs: number): number {
  const before = foundRate(found, nowMs);
  // A pause may be why so little passed.
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

/** For how long a rate has grown after it was held; below zero while it is held. Milliseconds. */
function grownForMs({ perSecond, atMs }: FoundRate, nowMs: number): number {
  return nowMs - atMs - perSecond * HELD_MS_A_REQUEST;
}
