import type { Clock } from '../domain/clock.ts';

/** A `Date` header counts whole seconds and travelled a while; less of a difference is no difference. */
const NOISE_MS = 2000;

/** No machine's clock is ten years off, and more of a difference makes dates that cannot be written. */
const NONSENSE_MS = 10 * 365 * 86_400_000;

/**
 * The platform's time, as far as its `Date` headers told: what `expiresAt` is held against there.
 *
 * Between answers our wall clock may be set back, and the monotonic one stands still while a machine sleeps: whichever
 * is ahead counts. What that makes due too early costs a request, whose answer tells better.
 */
export class ServerClock {
  readonly #clock: Clock;
  /** What the platform's time is more than our wall clock. */
  #offsetMs = 0;
  /** What it is more than our monotonic clock. */
  #monotonicOffsetMs = 0;
  #isTold = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The platform's time, epoch milliseconds. */
  now(): number {
    const byWallMs = this.#clock.now() + this.#offsetMs;
    if (!this.#isTold) return byWallMs;
    const byMonotonicMs = Math.floor(this.#clock.monotonic() + this.#monotonicOffsetMs);
    return byMonotonicMs - byWallMs > NOISE_MS ? byMonotonicMs : byWallMs;
  }

  /** Whether an answer told it; until then it is ours. */
  get isTold(): boolean {
    return this.#isTold;
  }

  /** Takes note of an answer's `Date` header. */
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
