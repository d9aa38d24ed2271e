import type { Clock } from '../../domain/clock.ts';
import { probeDelayMs } from '../../domain/retry.ts';
import {
  FailureAttribution,
  isSpent,
  type AttemptOutcome,
  type GuardedAttempts,
} from './failure-attribution.ts';

/**
 * Since when the platform has been unreachable, and when it is probed next (`null`: with the next change); epoch
 * milliseconds.
 */
export interface Outage {
  readonly sinceMs: number;
  readonly nextProbeMs: number | null;
  /** The last failure. */
  readonly reason: string;
}

export interface BreakerOptions {
  /** A longer outage is not waited for, milliseconds. */
  readonly longestOutageMs: number;
  /** In a longer outage no attempt waits; `isProbeDue` says when to probe, milliseconds. */
  readonly parkAfterMs: number;
  /** Called when an outage begins. */
  readonly opened: (reason: string) => void;
  /** Called when it is over. `hasParked`: some attempts did not wait for it. */
  readonly closed: (hasParked: boolean) => void;
}

/** The shortest time between two probes, also when recent changes ask for one. */
const SHORTEST_PROBE_GAP_MS = 1000;

/** The end of a wait: no outage, a turn to probe, or no attempt. */
type Admission = 'closed' | 'probe' | 'none';

interface Waiter {
  readonly guarded: GuardedAttempts;
  readonly admit: (admission: Admission) => void;
}

/**
 * Holds requests back while the platform is unreachable. Closed, everything is sent. It opens with the first failure
 * that may be the platform's while nothing else succeeds; then one attempt at a time probes (half-open), in turns,
 * until one gets an answer. Shared by all workers.
 *
 * A request that fails while others succeed counts against its own file and opens nothing.
 */
export class CircuitBreaker {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #options: BreakerOptions;
  #reason = '';
  #hasParked = false;
  #state: 'closed' | 'open' | 'half-open' = 'closed';
  #waiting: Waiter[] = [];
  /** Aborted while no timer runs. */
  #timer = new AbortController();
  #timerAtMs = NaN;
  readonly #attribution = new FailureAttribution();
  #lastFailed: GuardedAttempts | null = null;
  #outages = 0;
  #sinceMs = 0;
  #probes = 0;
  #lastProbeMs = 0;
  #nextProbeMs = 0;
  /** The platform asked for no request before this time. */
  #notBeforeMs = 0;

  constructor(clock: Clock, random: () => number, options: BreakerOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#options = options;
  }

  /** Closed: everything is sent; open: nothing; half-open: one probe. */
  get state(): 'closed' | 'open' | 'half-open' {
    return this.#state;
  }

  /** The platform is considered unreachable. */
  get isOpen(): boolean {
    return this.#state !== 'closed';
  }

  /** An attempt probes, or waits to probe. */
  get isAwaited(): boolean {
    return this.#state === 'half-open' || this.#waiting.length > 0;
  }

  /** The outage has lasted too long to keep waiting. */
  get isHopeless(): boolean {
    return this.#hasLasted(this.#options.longestOutageMs);
  }

  /** A probe is due, and no attempt waits to make it. */
  get isProbeDue(): boolean {
    return this.#state === 'open' && this.#waiting.length === 0 && this.untilProbeMs === 0;
  }

  /** The outage has lasted so long that attempts no longer wait for a probe. */
  get #isLong(): boolean {
    return this.#hasLasted(this.#options.parkAfterMs);
  }

  #hasLasted(ms: number): boolean {
    return this.isOpen && this.#clock.monotonic() - this.#sinceMs >= ms;
  }

  /** The current outage, for display; `null`: none. */
  get outage(): Outage | null {
    if (!this.isOpen) return null;
    const aheadMs = this.#clock.now() - this.#clock.monotonic();
    const nextMs = Math.max(this.#nextProbeMs, this.#clock.monotonic());
    return {
      sinceMs: Math.round(this.#sinceMs + aheadMs),
      nextProbeMs: this.isAwaited || this.#hasParked ? Math.round(nextMs + aheadMs) : null,
      reason: this.#reason,
    };
  }

  /** The time until the platform is probed again, milliseconds. */
  get untilProbeMs(): number {
    return Math.max(0, this.#nextProbeMs - this.#clock.monotonic());
  }

  /**
   * Returns whether to make no further attempt for now, because the outage lasts too long to wait for the next probe.
   * The file is retried once a probe is due or the outage is over.
   */
  park(guarded: GuardedAttempts): boolean {
    if (!this.#isLong || this.isProbeDue || this.#isFirstAsking(guarded)) return false;
    this.#hasParked = true;
    return true;
  }

  /** Returns whether a recent change asks for its own probe, which it may once per outage. */
  #isFirstAsking({ terms, askedIn }: GuardedAttempts): boolean {
    return terms.isFresh && askedIn !== this.#outages;
  }

  /**
   * Makes an attempt: immediately, or during an outage when it is its turn to probe. Returns `null` if none was made:
   * `make` returned it, the outage lasts too long, all attempts were made, or the signal aborted.
   *
   * @param transfer - runs an exchange as soon as the limit of concurrent exchanges allows.
   */
  async attempt<T extends AttemptOutcome>(
    guarded: GuardedAttempts,
    transfer: <R>(exchange: () => Promise<R>) => Promise<R>,
    make: () => Promise<T | null>,
    signal: AbortSignal,
  ): Promise<T | null> {
    for (;;) {
      const asked = this.#admission(guarded, signal);
      const admission = asked instanceof Promise ? await asked : asked;
      if (admission === 'none' || isSpent(guarded)) {
        if (admission === 'probe') this.#probeEnded();
        return null;
      }
      const isProbe = admission === 'probe';
      try {
        const made = await transfer(async () => {
          // Others may have found the platform unreachable while this attempt waited for a place.
          if (!isProbe && this.isOpen) return 'not-now';
          const answersBefore = this.#attribution.answers;
          const result = await make();
          if (result !== null) this.#note(guarded, result, answersBefore, isProbe);
          return result;
        });
        if (made !== 'not-now') return made;
      } finally {
        if (isProbe) this.#probeEnded();
      }
    }
  }

  #admission(guarded: GuardedAttempts, signal: AbortSignal): Admission | Promise<Admission> {
    if (signal.aborted || this.isHopeless) return 'none';
    if (!this.isOpen) return 'closed';
    if (!guarded.terms.waitsForOutage()) return 'none';
    if (this.park(guarded)) return 'none';
    const isFirstAsking = this.#isFirstAsking(guarded);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        guarded,
        admit: (admission) => {
          signal.removeEventListener('abort', leave);
          resolve(admission);
        },
      };
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiter);
        waiter.admit('none');
        this.#setTimer();
      };
      signal.addEventListener('abort', leave);
      if (isFirstAsking) {
        guarded.askedIn = this.#outages;
        this.#waiting.unshift(waiter);
        const soonMs = Math.max(this.#lastProbeMs + SHORTEST_PROBE_GAP_MS, this.#notBeforeMs);
        this.#nextProbeMs = Math.min(this.#nextProbeMs, soonMs);
      } else this.#waiting.push(waiter);
      this.#setTimer();
    });
  }

  /**
   * Lets the attempt that has waited longest probe when it is time. They take turns, because a failed one queues again.
   */
  #setTimer(): void {
    const isNeeded = this.#state === 'open' && this.#waiting.length > 0;
    // The last probe is made when the longest outage is reached.
    const atMs = Math.min(this.#nextProbeMs, this.#sinceMs + this.#options.longestOutageMs);
    if (isNeeded && !this.#timer.signal.aborted && this.#timerAtMs === atMs) return;
    this.#timer.abort();
    if (!isNeeded) return;
    const timer = new AbortController();
    this.#timer = timer;
    this.#timerAtMs = atMs;
    void this.#clock.sleep(Math.max(0, atMs - this.#clock.monotonic()), timer.signal).then(() => {
      if (timer.signal.aborted) return;
      timer.abort();
      // Prefers a file other than the one that failed last, which shows whether the failure is that file's own.
      const other = this.#waiting.findIndex(({ guarded }) => guarded !== this.#lastFailed);
      const [next] = this.#waiting.splice(Math.max(0, other), 1);
      if (next === undefined) return;
      this.#state = 'half-open';
      next.admit('probe');
    });
  }

  /** A probe got no answer, or was not made. */
  #probeEnded(): void {
    if (this.#state !== 'half-open') return;
    this.#state = 'open';
    if (this.isHopeless) this.#admitAll('none');
    else if (this.#isLong) {
      this.#hasParked ||= this.#waiting.length > 0;
      this.#admitAll('none');
    } else this.#setTimer();
  }

  #note(guarded: GuardedAttempts, outcome: AttemptOutcome, answersBefore: number, isProbe: boolean): void {
    const { met, retryAfterMs = 0, retryReason } = outcome;
    if (met === 'unreachable' || met === 'failure') this.#reason = retryReason ?? '';
    switch (met) {
      case 'answer':
        this.#attribution.answered(guarded, this.#clock.monotonic());
        this.#close();
        break;
      case 'unreachable':
      case 'failure':
        this.#failed(guarded, met, answersBefore, retryAfterMs, isProbe);
        break;
      case 'own':
        guarded.failures += 1;
        // The platform rejected this request, but it is reachable.
        if (isProbe) this.#close();
        break;
      case 'nothing':
        break;
    }
  }

  #close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    const hasParked = this.#hasParked;
    this.#hasParked = false;
    this.#admitAll('closed');
    this.#options.closed(hasParked);
  }

  #failed(
    guarded: GuardedAttempts,
    met: 'unreachable' | 'failure',
    answersBefore: number,
    askedMs: number,
    isProbe: boolean,
  ): void {
    const nowMs = this.#clock.monotonic();
    const isOutage = this.isOpen;
    if (!this.#attribution.failed(guarded, { met, answersBefore, isOutage }, nowMs)) return;
    if (!isOutage) {
      this.#state = 'open';
      this.#outages += 1;
      this.#sinceMs = nowMs;
      this.#probes = 0;
      this.#notBeforeMs = 0;
      this.#options.opened(this.#reason);
    } else if (!isProbe) return;
    this.#lastFailed = guarded;
    this.#lastProbeMs = nowMs;
    this.#notBeforeMs = Math.max(this.#notBeforeMs, nowMs + askedMs);
    this.#nextProbeMs = nowMs + askedMs + probeDelayMs(++this.#probes, this.#random());
  }

  #admitAll(admission: Admission): void {
    this.#timer.abort();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { admit } of waiting) admit(admission);
  }
}
