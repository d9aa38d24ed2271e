/** After a success this recent, a failed request is not taken for the platform's failure, milliseconds. */
const RECENT_MS = 1000;

/** The number of failing files that are remembered. */
const MOST_SUSPECTS = 1000;

export interface AttemptOutcome {
  /**
   * - `answer`: the platform and its store accepted the file, or refused it for good: they are reachable.
   * - `unreachable`: no connection was made.
   * - `failure`: another failure that may be the platform's: a 5xx, a timeout, a lost connection.
   * - `own`: a failure that says nothing about the platform, such as 429 or a file that was changed in the meantime.
   * - `nothing`: no request was sent.
   */
  readonly met: 'answer' | 'unreachable' | 'failure' | 'own' | 'nothing';
  /** The pause that the platform asked for, milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** The reason for messages; `null`: no failure. */
  readonly retryReason?: string | null;
}

export interface AttemptTerms {
  /** Identifies the file. */
  readonly name: string;
  /** The failures allowed that count against the file. */
  readonly attempts: number;
  /** A recent change: during an outage it may ask for a probe sooner than the next one due. */
  readonly isFresh: boolean;
  /** Called during an outage: returns whether to wait for a turn to probe. */
  readonly waitsForOutage: () => boolean;
}

/** All attempts to send or remove one file. */
export interface GuardedAttempts {
  readonly terms: AttemptTerms;
  /** Failures that count against the file, because others succeeded in the meantime. */
  failures: number;
  /** The number of answers when it first failed; `null`: it has not failed. */
  answersBeforeFailure: number | null;
  /** Its last failure was attributed to the platform. */
  isExcused: boolean;
  /** The number of the outage in which it last asked for a probe of its own. */
  askedIn: number;
}

export function guardAttempts(terms: AttemptTerms): GuardedAttempts {
  return { terms, failures: 0, answersBeforeFailure: null, isExcused: false, askedIn: 0 };
}

/** Returns whether all allowed attempts were made. */
export function isSpent({ failures, terms }: GuardedAttempts): boolean {
  return failures >= terms.attempts;
}

/** `unreachable`: no connection; `failure`: another failure that may be the platform's. */
export interface FailedRequest {
  readonly met: 'unreachable' | 'failure';
  /** The number of answers when the request was made. */
  readonly answersBefore: number;
  /** The platform is considered unreachable. */
  readonly isOutage: boolean;
}

/**
 * Distinguishes failures of single files from those of the platform, by whether others get answers. Times are monotonic
 * milliseconds.
 */
export class FailureAttribution {
  #answers = 0;
  #lastAnswerMs = -Infinity;
  /** The files that failed since the last answer. */
  #failing: GuardedAttempts | 'several' | null = null;
  /** Files that failed while others succeeded, until they succeed: their failures count against them. */
  readonly #suspects = new Set<string>();

  /** The number of answered requests. */
  get answers(): number {
    return this.#answers;
  }

  /** Records an answer: a failure that no other file shared counts against its file. */
  answered(one: GuardedAttempts, nowMs: number): void {
    const failing = this.#failing;
    if (failing !== null && failing !== 'several' && failing.terms.name !== one.terms.name) {
      if (failing.isExcused) failing.failures += 1;
      failing.isExcused = false;
      if (this.#suspects.size < MOST_SUSPECTS) this.#suspects.add(failing.terms.name);
    }
    this.#suspects.delete(one.terms.name);
    this.#failing = null;
    this.#answers += 1;
    this.#lastAnswerMs = nowMs;
  }

  /**
   * Records a failed request. Returns `true` if it is attributed to the platform; otherwise it counts against the file.
   */
  failed(one: GuardedAttempts, { met, answersBefore, isOutage }: FailedRequest, nowMs: number): boolean {
    const { name } = one.terms;
    if (met === 'failure' && !isOutage && this.#suspects.has(name)) {
      one.failures += 1;
      return false;
    }
    const before = this.#failing;
    this.#failing = before === null || (before !== 'several' && before.terms.name === name) ? one : 'several';
    const isRecent = met === 'failure' && nowMs - this.#lastAnswerMs < RECENT_MS;
    const isAlone = this.#failing === one;
    const othersPass =
      one.answersBeforeFailure === null
        ? this.#answers > answersBefore || isRecent
        : this.#answers > one.answersBeforeFailure;
    one.answersBeforeFailure ??= this.#answers;
    if (!isOutage && isAlone && othersPass) {
      one.failures += 1;
      return false;
    }
    one.isExcused = true;
    return true;
  }
}
