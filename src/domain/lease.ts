/** Without proof for this part of the lease, nothing new is started. */
const BEGIN_PART = 1 / 3;

/** Work under way must end before the lease does: by this part of the lease, and at least by this many milliseconds. */
const MARGIN_PART = 1 / 10;
const LEAST_MARGIN_MS = 600;

/** Heartbeats per lease. */
const BEATS_A_LEASE = 4;

export function beatMs(leaseMs: number): number {
  return leaseMs / BEATS_A_LEASE;
}

/** Returns how long after sending a proof of the lease new work may start, milliseconds. */
export function beginWithinMs(leaseMs: number): number {
  return leaseMs * BEGIN_PART;
}

/**
 * Returns how long after sending a proof of the lease started work may go on, milliseconds; after that another host may be at
 * work.
 */
export function finishWithinMs(leaseMs: number): number {
  return leaseMs - Math.max(LEAST_MARGIN_MS, leaseMs * MARGIN_PART);
}

/** A moment by both clocks, milliseconds. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export interface Clocks {
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export function momentOf(clocks: Clocks): Moment {
  return { monotonicMs: clocks.monotonic(), wallMs: clocks.now() };
}

/** Checks that this host still holds a unit, before a request about it is sent. */
export interface Fence {
  /** Returns whether new work may start now. */
  readonly mayBegin: () => boolean;
  /** Returns whether started work may go on now. */
  readonly mayFinish: () => boolean;
  /** Resolves when `mayBegin` may have become true, or the signal aborts; at once when it never will. */
  readonly proven: (signal: AbortSignal) => Promise<void>;
}

/**
 * A lease as seen by its holder. It reads the clock on each call instead of using timers, which fire late after a process was
 * stopped. The monotonic clock does not advance while a machine sleeps, so the clock with more elapsed time counts: a wall clock
 * that is set forward only costs the wait for the next heartbeat.
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

  /** Records that the database accepted a proof sent at this moment. */
  prove(sentAt: Moment): void {
    if (sentAt.monotonicMs < this.#provenAt.monotonicMs) return;
    this.#provenAt = sentAt;
    this.#wake();
  }

  /** Ends the lease, which was released or lost: nothing may happen under it any more. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Time for work under way without another proof, milliseconds; 0: none. */
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
