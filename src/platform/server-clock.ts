import type { Clock } from '../domain/clock.ts';

/** A `Date` header counts whole seconds and travelled a while; less of a difference is no difference. */
const NOISE_MS = 2000;

/** No machine's clock is ten years off, and more of a difference makes dates that cannot be written. */
const NONSENSE_MS = 10 * 365 * 86_400_000;

/** The platform's time, as far as its `Date` headers told: what `expiresAt` is held against there. */
export class ServerClock {
  readonly #clock: Clock;
  #offsetMs = 0;
  #isTold = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The platform's time, epoch milliseconds. */
  now(): number {
    return this.#clock.now() + this.#offsetMs;
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
  }
}
