import type { Clock } from '../domain/clock.ts';

/** Says when the next request may pass, and is notified of each that does. Times are monotonic milliseconds. */
export interface Schedule {
  readonly nextAtMs: (nowMs: number) => number;
  readonly released: (nowMs: number) => void;
}

/** `question`: such as whether a sent file has arrived. It may wait, because files go first. */
export type Urgency = 'file' | 'question';

/** While files wait, one question passes per this many files: at most 3 % of the requests. */
const FILES_A_QUESTION = 33;

interface Waiting {
  readonly urgency: Urgency;
  readonly release: (nowMs: number | null) => void;
}

/**
 * Lets requests pass one by one, when the schedule allows. Files come before questions, each in their order; while
 * files wait, at most 3 % of the passing requests are questions.
 */
export class Gate {
  readonly #schedule: Schedule;
  readonly #clock: Clock;
  #waiting: Waiting[] = [];
  /** Files that passed since the last question. */
  #filesPassed = 0;
  #isRunning = false;
  #isShut = false;
  #wake: AbortController | null = null;

  constructor(schedule: Schedule, clock: Clock) {
    this.#schedule = schedule;
    this.#clock = clock;
  }

  /** Waits to pass the gate; returns when it passed. `null`: dismissed, or the signal aborted. */
  pass(signal: AbortSignal, urgency: Urgency): number | null | Promise<number | null> {
    const nowMs = this.#clock.monotonic();
    if (this.#waiting.length === 0 && this.#schedule.nextAtMs(nowMs) <= nowMs) {
      this.#noteRelease(urgency, nowMs);
      return nowMs;
    }
    if (signal.aborted || this.#isShut) return null;
    return new Promise((resolve) => {
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== one);
        resolve(null);
        this.recheck();
      };
      const one: Waiting = {
        urgency,
        release: (releasedAtMs) => {
          signal.removeEventListener('abort', leave);
          resolve(releasedAtMs);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(one);
      if (!this.#isRunning) void this.#run();
    });
  }

  /** Dismisses all waiting requests. */
  dismiss(): void {
    const dismissed = this.#waiting;
    this.#waiting = [];
    for (const { release } of dismissed) release(null);
    this.recheck();
  }

  /** From now on requests do not wait: only those pass that may do so immediately. */
  shut(): void {
    this.#isShut = true;
    this.dismiss();
  }

  /** Call it when the schedule has changed. */
  recheck(): void {
    this.#wake?.abort();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const nowMs = this.#clock.monotonic();
      const waitMs = this.#schedule.nextAtMs(nowMs) - nowMs;
      if (waitMs > 0) {
        this.#wake = new AbortController();
        await this.#clock.sleep(waitMs, this.#wake.signal);
        this.#wake = null;
      } else {
        const next = this.#takeNext(first);
        this.#noteRelease(next.urgency, nowMs);
        next.release(nowMs);
      }
    }
    this.#isRunning = false;
  }

  /** Removes and returns the request whose turn it is; `first` is the oldest. */
  #takeNext(first: Waiting): Waiting {
    const wanted = this.#filesPassed < FILES_A_QUESTION ? 'file' : 'question';
    const position = Math.max(
      0,
      this.#waiting.findIndex(({ urgency }) => urgency === wanted),
    );
    return this.#waiting.splice(position, 1)[0] ?? first;
  }

  #noteRelease(urgency: Urgency, nowMs: number): void {
    this.#filesPassed = urgency === 'file' ? this.#filesPassed + 1 : 0;
    this.#schedule.released(nowMs);
  }
}
