/** After this part of the lease without proof nothing new is begun. */
const BEGIN_PART = 1 / 3;

/** What is under way ends this long before the lease does: this part of it, and at least so many milliseconds. */
const MARGIN_PART = 1 / 10;
const LEAST_MARGIN_MS = 600;

/** So many beats fit into a lease. */
const BEATS_A_LEASE = 4;

/** How often a holder proves that it lives, milliseconds. */
export function beatMs(leaseMs: number): number {
  return leaseMs / BEATS_A_LEASE;
}

/** How long after a proof of the lease was sent something may be begun, milliseconds. */
export function beginWithinMs(leaseMs: number): number {
  return leaseMs * BEGIN_PART;
}

/** How long after a proof of the lease was sent what was begun may go on, milliseconds; after that another host may be at work. */
export function finishWithinMs(leaseMs: number): number {
  return leaseMs - Math.max(LEAST_MARGIN_MS, leaseMs * MARGIN_PART);
}

/** A moment by both clocks, milliseconds. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** The clocks of a host. */
export interface Clocks {
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Now, by both clocks. */
export function momentOf(clocks: Clocks): Moment {
  return { monotonicMs: clocks.monotonic(), wallMs: clocks.now() };
}

/** What a request has to ask before it leaves: whether whoever sends it still holds what it is about. */
export interface Fence {
  /** Whether something may be begun now. */
  readonly mayBegin: () => boolean;
  /** Whether what was begun may go on to its end now. */
  readonly mayFinish: () => boolean;
  /** Resolves when `mayBegin` may have become true; at once when it never will, or the signal aborts. */
  readonly proven: (signal: AbortSignal) => Promise<void>;
}

/**
 * A lease as its holder sees it: asked of the clock each time, never of timers, since a process that was stopped wakes up
 * with its timers late. The monotonic clock stands still while a machine sleeps, so that the wall clock counts as well
 * where it tells of more time: one that is set forward costs the wait for the next beat.
 */
export class Lease implements Fence {
  readonly leaseMs: number;
  readonly #clocks: Clocks;
  #provenAt: Moment;
  #isOver = false;
  #waiting: (() => void)[] = [];

  /** @param provenAt - when the claim was sent. */
  constructor(leaseMs: number, clocks: Clocks, provenAt: Moment) {
    this.leaseMs = leaseMs;
    this.#clocks = clocks;
    this.#provenAt = provenAt;
  }

  /** The database took a proof that was sent at this moment. */
  prove(sentAt: Moment): void {
    if (sentAt.monotonicMs < this.#provenAt.monotonicMs) return;
    this.#provenAt = sentAt;
    this.#wake();
  }

  /** It was released, or lost: nothing may happen under it any more. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** Whether it was ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** How long what is under way may go on unless the lease is proven again, milliseconds; 0: no longer. */
  get remainingMs(): number {
    return this.#isOver ? 0 : Math.max(0, finishWithinMs(this.leaseMs) - this.#elapsedMs());
  }

  mayBegin = (): boolean => !this.#isOver && this.#elapsedMs() < beginWithinMs(this.leaseMs);

  mayFinish = (): boolean => this.remainingMs > 0;

  proven = (signal: AbortSignal): Promise<void> => {
    if (this.#isOver || signal.aborted || this.mayBegin()) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        this.#waiting = this.#waiting.filter((other) => other !== done);
        resolve();
      };
      signal.addEventListener('abort', done, { once: true });
      this.#waiting.push(done);
    });
  };

  #elapsedMs(): number {
    const { monotonicMs, wallMs } = this.#provenAt;
    return Math.max(this.#clocks.monotonic() - monotonicMs, this.#clocks.now() - wallMs);
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done();
  }
}
