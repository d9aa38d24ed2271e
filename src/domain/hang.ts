/** Checks per hang timeout: sleep and scheduling shift a check or two. */
const CHECKS = 20;

const LONGEST_CHECK_MS = 5000;

/** Returns the interval between checks of the main thread, milliseconds. */
export function hangCheckMs(hangTimeoutMs: number): number {
  return Math.min(Math.max(Math.floor(hangTimeoutMs / CHECKS), 10), LONGEST_CHECK_MS);
}

/**
 * Decides from a count of heartbeats whether the main thread hangs. Counts its own checks instead of reading a clock: while the
 * machine sleeps or the process is stopped there are no checks, so neither looks like a hang.
 */
export class HangJudge {
  readonly #mostChecks: number;
  #beats = -1;
  #checks = 0;

  constructor(hangTimeoutMs: number) {
    this.#mostChecks = Math.ceil(hangTimeoutMs / hangCheckMs(hangTimeoutMs));
  }

  /** Must be called every `hangCheckMs` with the total of heartbeats. Returns whether there was none for the whole timeout. */
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
