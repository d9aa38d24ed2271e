import type { Clock } from '../domain/clock.ts';

/** Says when the next may pass, and is told of each that does. Times are of the monotonic clock, milliseconds. */
export interface Schedule {
  readonly nextAtMs: (nowMs: number) => number;
  readonly released: (nowMs: number) => void;
}

/** What a request is for: a question may wait, as files go first. */
export type Urgency = 'file' | 'question';

/** While files wait, one question passes after so many of them. */
const FILES_A_QUESTION = 3;

interface Waiting {
  readonly urgency: Urgency;
  readonly owner: object;
  readonly release: (nowMs: number | null) => void;
}

/**
 * Lets one after the other pass, each at the moment that the schedule gives when it is the first. Files come before
 * questions, and each in the order they came; of those that pass while files wait at most one in four is a question.
 */
export class Gate {
  readonly #schedule: Schedule;
  readonly #clock: Clock;
  #waiting: Waiting[] = [];
  #waitingSinceMs: number | null = null;
  /** Files that have passed since a question did. */
  #filesPassed = 0;
  #isRunning = false;
  /** Whose requests do not wait any more. */
  readonly #shutTo = new WeakSet();
  #wake: AbortController | null = null;

  constructor(schedule: Schedule, clock: Clock) {
    this.#schedule = schedule;
    this.#clock = clock;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Since when somebody has always been waiting, by the monotonic clock; `null`: nobody waits. */
  get waitingSinceMs(): number | null {
    return this.#waiting.length === 0 ? null : this.#waitingSinceMs;
  }

  /**
   * Passes the gate; gives when that was. `null`: it was sent away, or the signal aborted.
   *
   * @param owner - who may send it away, where the gate is that of several.
   */
  pass(signal: AbortSignal, urgency: Urgency, owner: object = this): number | null | Promise<number | null> {
    const nowMs = this.#clock.monotonic();
    if (this.#waiting.length === 0 && this.#schedule.nextAtMs(nowMs) <= nowMs) {
      this.#noteRelease(urgency, nowMs);
      return nowMs;
    }
    if (signal.aborted || this.#shutTo.has(owner)) return null;
    return new Promise((resolve) => {
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== one);
        resolve(null);
        this.recheck();
      };
      const one: Waiting = {
        urgency,
        owner,
        release: (releasedAtMs) => {
          signal.removeEventListener('abort', leave);
          resolve(releasedAtMs);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      if (this.#waiting.length === 0) this.#waitingSinceMs = nowMs;
      this.#waiting.push(one);
      if (!this.#isRunning) void this.#run();
    });
  }

  /** Sends all of an owner away that wait. */
  dismiss(owner: object = this): void {
    const dismissed = this.#waiting.filter((one) => one.owner === owner);
    this.#waiting = this.#waiting.filter((one) => one.owner !== owner);
    for (const { release } of dismissed) release(null);
    this.recheck();
  }

  /** From now on nobody of an owner waits any more: only what may pass at once does. */
  shut(owner: object = this): void {
    this.#shutTo.add(owner);
    this.dismiss(owner);
  }

  /** The schedule changed: looks again when the next may pass. */
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

  /** Takes out whose turn it is; `first` came first. */
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
