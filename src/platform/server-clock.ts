import type { Clock } from '../domain/clock.ts';

/** A `Date` header has whole seconds and took a while to arrive; smaller differences are ignored. */
const NOISE_MS = 2000;

/** Larger differences are nonsense, and would lead to dates that cannot be written. */
const NONSENSE_MS = 10 * 365 * 86_400_000;

/**
 * The platform's time, as reported by its `Date` headers: the platform compares `expiresAt` with it.
 *
 * Between answers our wall clock may be set back, and the monotonic clock stops while the machine sleeps: whichever is
 * ahead counts. Something that becomes due too early costs one request, whose answer corrects the time.
 */
export class ServerClock {
  readonly #clock: Clock;
  /** The platform's time minus our wall clock. */
  #offsetMs = 0;
  /** The platform's time minus our monotonic clock. */
  #monotonicOffsetMs = 0;
  #isTold = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    const byWallMs = this.#clock.now() + this.#offsetMs;
    if (!this.#isTold) return byWallMs;
    const byMonotonicMs = Math.floor(this.#clock.monotonic() + this.#monotonicOffsetMs);
    return byMonotonicMs - byWallMs > NOISE_MS ? byMonotonicMs : byWallMs;
  }

  /** True if an answer reported the time; until then it is our own. */
  get isKnown(): boolean {
    return this.#isTold;
  }

  /** Reads an answer's `Date` header. */
  noteDate(header: string | string[] | undefined): void {
    const dateMs = typeof header === 'string' ? Date.parse(header) : Number.NaN;
    if (Number.isNaN(dateMs)) return;
    const offsetMs = dateMs + 500 - this.#clock.now();
    if (Math.abs(offsetMs) > NONSENSE_MS) return;
    this.#isTold = true;
    this.#offsetMs = Math.abs(offsetMs) > NOISE_MS ? offsetMs : 0;
    this.#monotonicOffsetMs = this.#clock.now() + this.#offsetMs - this.#clock.monotonic();
  }
}
