import type { Clock } from '../domain/clock.ts';
import { retryDelayMs } from '../domain/retry-delay.ts';

/** So many transient failures in a row, over all files, are no longer the files' fault. */
const FAILURES_OF_AN_OUTAGE = 10;

/** What an attempt says of the platform. */
export interface Verdict {
  /** Whether it met with an answer, with a transient failure, or did not get as far as the platform. */
  readonly met: 'answer' | 'failure' | 'nothing';
  /** The platform asked for at least this much patience, milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * Notices that the platform as a whole is out of reach, and then lets one attempt at a time through until one gets an
 * answer. Shared by all workers.
 */
export class Outage {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #giveUpAfterMs: number;
  #failuresInARow = 0;
  #sinceMs = 0;
  #probes = 0;
  #askedMs = 0;
  #probing: Promise<void> | null = null;

  /** @param giveUpAfterMs - an outage longer than this is waited for no more. */
  constructor(clock: Clock, random: () => number, giveUpAfterMs: number) {
    this.#clock = clock;
    this.#random = random;
    this.#giveUpAfterMs = giveUpAfterMs;
  }

  /** Whether the platform is taken to be out of reach. */
  get isOn(): boolean {
    return this.#failuresInARow >= FAILURES_OF_AN_OUTAGE;
  }

  /** Whether an attempt is under way, or waits its time, to find out whether it is over. */
  get isProbing(): boolean {
    return this.#probing !== null;
  }

  /** Whether it has been so for too long to go on waiting. */
  get isHopeless(): boolean {
    return this.isOn && this.#clock.monotonic() - this.#sinceMs >= this.#giveUpAfterMs;
  }

  /**
   * Runs an attempt: at once as a rule, during an outage when it is its turn to probe. `null`: it was not made, since the outage is hopeless or the signal aborted.
   */
  async attempt<T extends Verdict>(make: () => Promise<T>, signal: AbortSignal): Promise<T | null> {
    while (this.isOn) {
      if (this.isHopeless || signal.aborted) return null;
      if (this.#probing === null) return await this.#probe(make, signal);
      await this.#probing;
    }
    if (signal.aborted) return null;
    return this.#noted(await make());
  }

  async #probe<T extends Verdict>(make: () => Promise<T>, signal: AbortSignal): Promise<T | null> {
    let done: () => void = () => undefined;
    this.#probing = new Promise((resolve) => {
      done = resolve;
    });
    try {
      const leftMs = this.#sinceMs + this.#giveUpAfterMs - this.#clock.monotonic();
      await this.#clock.sleep(
        Math.min(retryDelayMs(++this.#probes, this.#random(), this.#askedMs), leftMs),
        signal,
      );
      return signal.aborted ? null : this.#noted(await make());
    } finally {
      this.#probing = null;
      done();
    }
  }

  #noted<T extends Verdict>(result: T): T {
    switch (result.met) {
      case 'answer':
        this.#failuresInARow = 0;
        this.#probes = 0;
        break;
      case 'failure':
        this.#askedMs = result.retryAfterMs ?? 0;
        if (++this.#failuresInARow === FAILURES_OF_AN_OUTAGE) this.#sinceMs = this.#clock.monotonic();
        break;
      case 'nothing':
        break;
    }
    return result;
  }
}
