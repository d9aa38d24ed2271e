import type { Clock } from '../domain/clock.ts';
import { probeDelayMs } from '../domain/backoff.ts';
import { Blame, type Blamed } from './blame.ts';
import type { AttemptOutcome, BreakerOptions, Outage, Terms } from './breaker-terms.ts';

/** Probes are at least this far apart, also when fresh changes ask for one, milliseconds. */
const SHORTEST_PROBE_GAP_MS = 1000;

/** Runs an exchange when there is a place for it among those under way. */
type Transfer = <T>(exchange: () => Promise<T>) => Promise<T>;

/** How a wait ended: there is none, it is this attempt's turn to probe, or nobody waits any longer. */
type Admission = 'closed' | 'probe' | 'none';

interface Waiter {
  readonly errand: Errand;
  readonly admit: (admission: Admission) => void;
}

/** One file or removal on its way to the platform, with all its attempts. */
export class Errand implements Blamed {
  failures = 0;
  answersBeforeFailure: number | null = null;
  isExcused = false;
  /** The outage in which it last asked for a probe of its own. */
  askedIn = 0;
  readonly terms: Terms;
  readonly #breaker: CircuitBreaker;

  /** Made by `CircuitBreaker.errand`. */
  constructor(breaker: CircuitBreaker, terms: Terms) {
    this.#breaker = breaker;
    this.terms = terms;
  }

  /** Whether it has had all of its attempts. */
  get isSpent(): boolean {
    return this.failures >= this.terms.attempts;
  }

  /**
   * Whether it makes no other attempt for now: the outage lasts too long to wait for the next probe. Once that is due or the
   * outage is over, it is begun again.
   */
  park(): boolean {
    return this.#breaker.park(this);
  }

  /**
   * Makes an attempt: at once as a rule, during an outage when it is this errand's turn to probe. `null`: none was made,
   * by `make` itself, since the outage lasts too long, the errand is spent, or the signal aborted.
   */
  attempt<T extends AttemptOutcome>(
    transfer: Transfer,
    make: () => Promise<T | null>,
    signal: AbortSignal,
  ): Promise<T | null> {
    return this.#breaker.attempt(this, transfer, make, signal);
  }
}

/**
 * Keeps requests from a platform that is unreachable. Closed, everything goes through. It opens with the first failure
 * that may be the platform's while nothing else succeeds; then one attempt at a time probes (half-open), those that wait
 * taking turns, until one gets an answer. Shared by all workers.
 *
 * A request that fails while others succeed fails on its own account: it counts its attempts, and stops nobody.
 */
export class CircuitBreaker {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #longestOutageMs: number;
  readonly #options: BreakerOptions;
  #reason = '';
  #hasParked = false;
  #state: 'closed' | 'open' | 'half-open' = 'closed';
  #waiting: Waiter[] = [];
  /** Aborted while none runs. */
  #timer = new AbortController();
  #timerAtMs = NaN;
  readonly #blame = new Blame();
  #lastFailed: Errand | null = null;
  #outages = 0;
  #sinceMs = 0;
  #probes = 0;
  #lastProbeMs = 0;
  #nextProbeMs = 0;
  /** The platform asked not to be tried sooner. */
  #notBeforeMs = 0;

  constructor(clock: Clock, random: () => number, options: BreakerOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#options = options;
    this.#longestOutageMs = options.longestOutageMs;
  }

  /** Whether everything goes through, nothing, or one probe. */
  get state(): 'closed' | 'open' | 'half-open' {
    return this.#state;
  }

  /** Whether the platform is taken to be unreachable. */
  get isOpen(): boolean {
    return this.#state !== 'closed';
  }

  /** Whether an attempt finds out, or waits to find out, whether the outage is over. */
  get isAwaited(): boolean {
    return this.#state === 'half-open' || this.#waiting.length > 0;
  }

  /** Whether the outage has lasted too long to go on waiting. */
  get isHopeless(): boolean {
    return this.isOpen && this.#clock.monotonic() - this.#sinceMs >= this.#longestOutageMs;
  }

  /** Whether nobody waits any more to find out whether the outage is over, and it is time to. */
  get isProbeDue(): boolean {
    return this.#state === 'open' && this.#waiting.length === 0 && this.untilProbeMs === 0;
  }

  /** Whether the outage has lasted too long for anybody to stand by. */
  get #isLong(): boolean {
    return this.isOpen && this.#clock.monotonic() - this.#sinceMs >= this.#options.parkAfterMs;
  }

  /** The outage as people see it; `null`: there is none. */
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

  /** How long until the platform is retried, milliseconds. */
  get untilProbeMs(): number {
    return Math.max(0, this.#nextProbeMs - this.#clock.monotonic());
  }

  /** Begins an errand. */
  errand(terms: Terms): Errand {
    return new Errand(this, terms);
  }

  /** See `Errand.park`. */
  park(errand: Errand): boolean {
    if (!this.#isLong || this.isProbeDue || this.#isFirstAsking(errand)) return false;
    this.#hasParked = true;
    return true;
  }

  /** Whether a change of just now asks for a probe of its own, once an outage. */
  #isFirstAsking({ terms, askedIn }: Errand): boolean {
    return terms.isFresh && askedIn !== this.#outages;
  }

  /** See `Errand.attempt`. */
  async attempt<T extends AttemptOutcome>(
    errand: Errand,
    transfer: Transfer,
    make: () => Promise<T | null>,
    signal: AbortSignal,
  ): Promise<T | null> {
    for (;;) {
      const asked = this.#admission(errand, signal);
      const admission = asked instanceof Promise ? await asked : asked;
      if (admission === 'none' || errand.isSpent) {
        if (admission === 'probe') this.#probeEnded();
        return null;
      }
      const isProbe = admission === 'probe';
      try {
        const made = await transfer(async () => {
          // While it waited for its place others may have found that the platform is unreachable.
          if (!isProbe && this.isOpen) return 'not-now';
          const answersBefore = this.#blame.answers;
          const result = await make();
          if (result !== null) this.#note(errand, result, answersBefore, isProbe);
          return result;
        });
        if (made !== 'not-now') return made;
      } finally {
        if (isProbe) this.#probeEnded();
      }
    }
  }

  #admission(errand: Errand, signal: AbortSignal): Admission | Promise<Admission> {
    if (signal.aborted || this.isHopeless) return 'none';
    if (!this.isOpen) return 'closed';
    if (!errand.terms.waitsForOutage()) return 'none';
    if (this.park(errand)) return 'none';
    const isFirstAsking = this.#isFirstAsking(errand);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        errand,
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
        errand.askedIn = this.#outages;
        this.#waiting.unshift(waiter);
        const soonMs = Math.max(this.#lastProbeMs + SHORTEST_PROBE_GAP_MS, this.#notBeforeMs);
        this.#nextProbeMs = Math.min(this.#nextProbeMs, soonMs);
      } else this.#waiting.push(waiter);
      this.#setTimer();
    });
  }

  /** The attempt that waits longest probes when it is time: they take turns, as one that failed lines up again. */
  #setTimer(): void {
    const isNeeded = this.#state === 'open' && this.#waiting.length > 0;
    // Just before nobody waits any longer there is a last one.
    const atMs = Math.min(this.#nextProbeMs, this.#sinceMs + this.#longestOutageMs);
    if (isNeeded && !this.#timer.signal.aborted && this.#timerAtMs === atMs) return;
    this.#timer.abort();
    if (!isNeeded) return;
    const timer = new AbortController();
    this.#timer = timer;
    this.#timerAtMs = atMs;
    void this.#clock.sleep(Math.max(0, atMs - this.#clock.monotonic()), timer.signal).then(() => {
      if (timer.signal.aborted) return;
      timer.abort();
      // Another than the last one to fail, if there is one: that tells whether it is the file's own failure.
      const other = this.#waiting.findIndex(({ errand }) => errand !== this.#lastFailed);
      const [next] = this.#waiting.splice(Math.max(0, other), 1);
      if (next === undefined) return;
      this.#state = 'half-open';
      next.admit('probe');
    });
  }

  /** A probe brought no answer, or was not made. */
  #probeEnded(): void {
    if (this.#state !== 'half-open') return;
    this.#state = 'open';
    if (this.isHopeless) this.#admitAll('none');
    else if (this.#isLong) {
      this.#hasParked ||= this.#waiting.length > 0;
      this.#admitAll('none');
    } else this.#setTimer();
  }

  #note(errand: Errand, outcome: AttemptOutcome, answersBefore: number, isProbe: boolean): void {
    const { met, retryAfterMs = 0, retryReason } = outcome;
    if (met === 'unreachable' || met === 'failure') this.#reason = retryReason ?? '';
    switch (met) {
      case 'answer':
        this.#blame.answered(errand, this.#clock.monotonic());
        this.#close();
        break;
      case 'unreachable':
      case 'failure':
        this.#failed(errand, met, answersBefore, retryAfterMs, isProbe);
        break;
      case 'own':
        errand.failures += 1;
        // It has something against this request, but it is there.
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
    errand: Errand,
    met: 'unreachable' | 'failure',
    answersBefore: number,
    askedMs: number,
    isProbe: boolean,
  ): void {
    const nowMs = this.#clock.monotonic();
    const isOutage = this.isOpen;
    if (!this.#blame.failed(errand, { met, answersBefore, isOutage }, nowMs)) return;
    if (!isOutage) {
      this.#state = 'open';
      this.#outages += 1;
      this.#sinceMs = nowMs;
      this.#probes = 0;
      this.#notBeforeMs = 0;
      this.#options.opened(this.#reason);
    } else if (!isProbe) return;
    this.#lastFailed = errand;
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
