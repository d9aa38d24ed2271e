/** How often it is checked in the time after which a thread counts as hung: sleep and scheduling shift a check or two. */
const CHECKS = 20;

/** The longest time between two checks, milliseconds. */
const LONGEST_CHECK_MS = 5000;

/** How often a hung main thread is looked for, milliseconds. */
export function hangCheckMs(hangTimeoutMs: number): number {
  return Math.min(Math.max(Math.floor(hangTimeoutMs / CHECKS), 10), LONGEST_CHECK_MS);
}

/**
 * Tells from a count of heartbeats whether the main thread hangs. It counts its own checks and reads no clock: while the
 * machine sleeps, or the whole process is stopped, nothing is checked either, so that neither looks like a hang.
 */
export class HangJudge {
  readonly #mostChecks: number;
  #beats = -1;
  #checks = 0;

  constructor(hangTimeoutMs: number) {
    this.#mostChecks = Math.ceil(hangTimeoutMs / hangCheckMs(hangTimeoutMs));
  }

  /** To be called every `hangCheckMs` with the heartbeats so far. Returns whether there was none for the whole timeout. */
  check(beats: number): boolean {
    if (beats !== this.#beats) {
      this.#beats = beats;
      this.#checks = 0;
      return false;
    }
    this.#checks += 1;
    return this.#checks >= this.#mostChecks;
  }
}
