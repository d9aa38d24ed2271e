/** A success this recent speaks for the platform when a request fails after it, milliseconds. */
const RECENT_MS = 1000;

/** So many files that fail on their own account are remembered. */
const MOST_SUSPECTS = 1000;

/** Who failed: a file or removal with all its attempts. */
export interface Blamed {
  /** Failures that count against it: others got through in the meantime. */
  failures: number;
  /** How many answers there had been when it first failed; `null`: it has not. */
  answersBeforeFailure: number | null;
  /** Whether its last failure was taken for the platform's. */
  isExcused: boolean;
  readonly terms: { readonly name: string };
}

/** How a request failed: nobody was there, or an answer that was none. */
export interface BlamedFailure {
  readonly met: 'unreachable' | 'failure';
  /** How many answers there had been when the request was made. */
  readonly answersBefore: number;
  /** Whether the platform is taken to be unreachable. */
  readonly isOutage: boolean;
}

/** Tells the failures of single files from those of the platform, by who else gets answers. Times are monotonic milliseconds. */
export class Blame {
  #answers = 0;
  #lastAnswerMs = -Infinity;
  /** Who failed since the last answer. */
  #failing: Blamed | 'several' | null = null;
  /** Files that failed while others passed, until they get through: their failures are their own. */
  readonly #suspects = new Set<string>();

  /** How many requests were answered. */
  get answers(): number {
    return this.#answers;
  }

  /** A request was answered: a failure that nobody shared was its file's own. */
  answered(one: Blamed, nowMs: number): void {
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

  /** A request failed. Returns whether that is the platform's failure; otherwise it counts against the file. */
  failed(one: Blamed, { met, answersBefore, isOutage }: BlamedFailure, nowMs: number): boolean {
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
