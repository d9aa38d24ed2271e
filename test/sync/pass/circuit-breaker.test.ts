import { describe, expect, test } from 'vitest';
import { type BreakerOptions, CircuitBreaker } from '../../../src/sync/pass/circuit-breaker.ts';
import {
  guardAttempts,
  isSpent,
  type AttemptOutcome,
  type AttemptTerms,
} from '../../../src/sync/pass/failure-attribution.ts';
import { ManualClock } from '../../manual-clock.ts';
import { NEVER, SimulatedClock, sleepless } from '../../platform/fixture.ts';

const BAD: AttemptOutcome = { met: 'failure' };
const DEAD: AttemptOutcome = { met: 'unreachable' };
const GOOD: AttemptOutcome = { met: 'answer' };
const GIVE_UP_MS = 120_000;
const ATTEMPTS = 5;

const atOnce = <T>(exchange: () => Promise<T>): Promise<T> => exchange();

function options(longestOutageMs: number): BreakerOptions {
  return { longestOutageMs, parkAfterMs: Infinity, opened: () => undefined, closed: () => undefined };
}

function make(random = 0.999_999): { clock: SimulatedClock; breaker: CircuitBreaker } {
  const clock = new SimulatedClock();
  return { clock, breaker: new CircuitBreaker(clock, () => random, options(GIVE_UP_MS)) };
}

let made = 0;

/** The attempts of one file, all made through one breaker. */
class Guarded {
  readonly #breaker: CircuitBreaker;
  readonly #attempts: ReturnType<typeof guardAttempts>;

  constructor(breaker: CircuitBreaker, terms: AttemptTerms) {
    this.#breaker = breaker;
    this.#attempts = guardAttempts(terms);
  }

  get failures(): number {
    return this.#attempts.failures;
  }

  get isSpent(): boolean {
    return isSpent(this.#attempts);
  }

  attempt(
    transfer: <T>(exchange: () => Promise<T>) => Promise<T>,
    make: () => Promise<AttemptOutcome | null>,
    signal: AbortSignal,
  ): Promise<AttemptOutcome | null> {
    return this.#breaker.attempt(this.#attempts, transfer, make, signal);
  }
}

const guardedBy = (breaker: CircuitBreaker, isFresh = false, attempts = ATTEMPTS): Guarded =>
  new Guarded(breaker, { name: `file ${++made}`, attempts, isFresh, waitsForOutage: () => true });

const attempt = (guarded: Guarded, result: AttemptOutcome, signal = NEVER): Promise<AttemptOutcome | null> =>
  guarded.attempt(atOnce, () => Promise.resolve(result), signal);

describe('the circuit breaker', () => {
  test.each([
    ['a failure to connect', DEAD],
    ['a failure with no success of another', BAD],
  ])('opens at once with %s', async (_, verdict) => {
    const { clock, breaker } = make();
    expect(breaker.state).toBe('closed');
    await attempt(guardedBy(breaker), verdict);
    expect(breaker.state).toBe('open');
    expect(breaker.isAwaited).toBe(false);
    expect(clock.slept).toEqual([]);
  });

  test('stays closed with what fails while others pass', async () => {
    const { breaker } = make();
    let fail: (result: AttemptOutcome) => void = () => undefined;
    const bad = guardedBy(breaker);
    const failing = bad.attempt(
      atOnce,
      () => new Promise<AttemptOutcome>((resolve) => (fail = resolve)),
      NEVER,
    );
    await attempt(guardedBy(breaker), GOOD);
    fail(DEAD);
    await failing;
    expect(breaker.state).toBe('closed');
    expect(bad.failures).toBe(1);
  });

  test('stays closed with one failure a moment after a success, opens with the next', async () => {
    const { breaker } = make();
    await attempt(guardedBy(breaker), GOOD);
    await attempt(guardedBy(breaker), BAD);
    expect(breaker.state).toBe('closed');
    await attempt(guardedBy(breaker), BAD);
    expect(breaker.state).toBe('open');
  });

  test('opens with a failure long after a success, and with one to connect also soon after it', async () => {
    const late = make();
    await attempt(guardedBy(late.breaker), GOOD);
    late.clock.advance(1000);
    await attempt(guardedBy(late.breaker), BAD);
    expect(late.breaker.state).toBe('open');
    const soon = make();
    await attempt(guardedBy(soon.breaker), GOOD);
    await attempt(guardedBy(soon.breaker), DEAD);
    expect(soon.breaker.state).toBe('open');
  });

  test('is no matter of what fails on its own account', async () => {
    const { breaker } = make();
    const guarded = guardedBy(breaker);
    for (let i = 0; i < 3; i++) await attempt(guarded, { met: 'own' });
    expect(breaker.state).toBe('closed');
    expect(guarded.failures).toBe(3);
  });

  test('probes after 1, 2, 4 … at most 5 s, as often as it takes', async () => {
    const { clock, breaker } = make();
    const guarded = guardedBy(breaker);
    const times: number[] = [];
    for (let i = 0; i < 9 && !breaker.isHopeless; i++) {
      await attempt(guarded, BAD);
      times.push(Math.round(clock.monotonic() / 1000));
    }
    expect(times).toEqual([0, 1, 3, 7, 12, 17, 22, 27, 32]);
    expect(guarded.failures).toBe(0);
  });

  test('probes down to twice as often by chance, and never sooner than the platform asked', async () => {
    const { clock, breaker } = make(0);
    const guarded = guardedBy(breaker);
    await attempt(guarded, BAD);
    await attempt(guarded, { met: 'failure', retryAfterMs: 20_000 });
    await attempt(guarded, GOOD);
    expect(clock.slept).toEqual([500, 21_000]);
  });

  test('closes with the first answer, and then nobody waits', async () => {
    const { clock, breaker } = make();
    const guarded = guardedBy(breaker);
    await attempt(guarded, BAD);
    await attempt(guarded, GOOD);
    expect(breaker.state).toBe('closed');
    clock.slept.length = 0;
    await attempt(guardedBy(breaker), GOOD);
    expect(clock.slept).toEqual([]);
  });

  test('closes as well with an answer to an attempt that was begun before it opened', async () => {
    const { breaker } = make();
    let answer: (result: AttemptOutcome) => void = () => undefined;
    const early = guardedBy(breaker).attempt(
      atOnce,
      () => new Promise<AttemptOutcome>((resolve) => (answer = resolve)),
      NEVER,
    );
    await attempt(guardedBy(breaker), BAD);
    expect(breaker.state).toBe('open');
    answer(GOOD);
    await early;
    expect(breaker.state).toBe('closed');
  });

  test('lets one probe at a time through, and those that wait take turns', async () => {
    const { clock, breaker } = make();
    await attempt(guardedBy(breaker), DEAD);
    const probes: number[] = [];
    let atATime = 0;
    const work = async (number: number): Promise<void> => {
      const guarded = guardedBy(breaker);
      let isOver = false as boolean;
      while (!isOver) {
        await guarded.attempt(
          atOnce,
          async () => {
            if (breaker.isOpen) {
              expect(breaker.state).toBe('half-open');
              expect(++atATime).toBe(1);
              probes.push(number);
              await clock.sleep(100, NEVER);
              atATime -= 1;
            }
            const isLast = probes.length >= 5;
            isOver = isLast;
            return isLast ? GOOD : DEAD;
          },
          NEVER,
        );
      }
    };
    await Promise.all([0, 1, 2].map(work));
    expect(probes).toEqual([0, 1, 2, 0, 1]);
    expect(breaker.state).toBe('closed');
  });

  test('lets nothing through that got its place among the transfers only after it opened', async () => {
    const { breaker } = make();
    let place: () => void = () => undefined;
    const queue = new Promise<void>((resolve) => (place = resolve));
    let made = 0;
    const stop = new AbortController();
    const late = guardedBy(breaker).attempt(
      async (exchange) => {
        await queue;
        return await exchange();
      },
      () => {
        made += 1;
        return Promise.resolve(GOOD);
      },
      stop.signal,
    );
    await attempt(guardedBy(breaker), DEAD);
    place();
    await new Promise(setImmediate);
    expect(made).toBe(0);
    stop.abort();
    expect(await late).toBeNull();
  });

  test('goes on with the next probe when one throws', async () => {
    const { breaker } = make();
    await attempt(guardedBy(breaker), BAD);
    const broken = guardedBy(breaker).attempt(atOnce, () => Promise.reject(new Error('a bug')), NEVER);
    await expect(broken).rejects.toThrow('a bug');
    expect(await attempt(guardedBy(breaker), GOOD)).toBe(GOOD);
  });

  test('is hopeless after its time, with a last probe just then, and releases all who wait', async () => {
    const { clock, breaker } = make();
    clock.advance(5000);
    const work = async (): Promise<number> => {
      const guarded = guardedBy(breaker);
      let made = 0;
      while ((await attempt(guarded, BAD)) !== null) made += 1;
      return made;
    };
    const made = await Promise.all([1, 2, 3, 4].map(work));
    expect(clock.monotonic() - 5000).toBe(GIVE_UP_MS);
    expect(breaker.isHopeless).toBe(true);
    expect(made.reduce((sum, count) => sum + count)).toBe(4 + 26);
    expect(await attempt(guardedBy(breaker), GOOD)).toBeNull();
  });

  test('says since when it is open, and when it probes next', async () => {
    const clock = new ManualClock();
    const breaker = new CircuitBreaker(clock, () => 0, options(Infinity));
    const guarded = guardedBy(breaker);
    expect(breaker.outage).toBeNull();
    const sinceMs = clock.now();
    await attempt(guarded, BAD);
    expect(breaker.outage).toEqual({ sinceMs, nextProbeMs: null, reason: '' });
    const probing = attempt(guarded, BAD);
    expect(breaker.outage).toEqual({ sinceMs, nextProbeMs: sinceMs + 500, reason: '' });
    await clock.advance(500);
    await probing;
    const again = attempt(guarded, GOOD);
    expect(breaker.outage).toEqual({ sinceMs, nextProbeMs: sinceMs + 500 + 1000, reason: '' });
    await clock.advance(1000);
    await again;
    expect(breaker.outage).toBeNull();
  });
});

describe('a fresh change during an outage', () => {
  test('probes at once when the last probe is a second ago, and once out of turn', async () => {
    const clock = new ManualClock();
    const breaker = new CircuitBreaker(clock, () => 0.999, options(Infinity));
    const old = guardedBy(breaker);
    void (async () => {
      while ((await attempt(old, DEAD)) !== null);
    })();
    await clock.advance(38_000);
    const [before] = [breaker.untilProbeMs];
    expect(before).toBeGreaterThan(3000);
    const fresh = guardedBy(breaker, true);
    let made = 0;
    const probe = (): Promise<AttemptOutcome | null> =>
      fresh.attempt(
        atOnce,
        () => {
          made += 1;
          return Promise.resolve(DEAD);
        },
        NEVER,
      );
    const first = probe();
    await clock.advance(0);
    await first;
    expect(made).toBe(1);
    void probe();
    await clock.advance(3000);
    expect(made).toBe(1);
  });
});

describe('a file that the platform cannot digest', () => {
  test('alone is probed with; the first success of another counts against it, and it stops nobody any more', async () => {
    const { breaker } = make();
    const poison = guardedBy(breaker);
    for (let i = 0; i < 4; i++) await attempt(poison, BAD);
    expect(breaker.state).toBe('open');
    expect(poison.failures).toBe(0);
    await attempt(guardedBy(breaker), GOOD);
    expect(poison.failures).toBe(1);
    for (let i = 2; i <= ATTEMPTS; i++) {
      await attempt(poison, BAD);
      expect(breaker.state).toBe('closed');
      expect(poison.failures).toBe(i);
    }
    expect(poison.isSpent).toBe(true);
    expect(await attempt(poison, GOOD)).toBeNull();
  });

  test('is not taken for one where others failed as well', async () => {
    const { breaker } = make();
    const [one, other] = [guardedBy(breaker, false, 1), guardedBy(breaker)];
    await attempt(one, BAD);
    await attempt(other, BAD);
    await attempt(other, GOOD);
    expect(one.failures).toBe(0);
    expect(await attempt(one, GOOD)).toBe(GOOD);
  });
});

describe('an guarded that does not wait for outages', () => {
  test('is not attempted while there is one', async () => {
    const { breaker } = make();
    const impatient = new Guarded(breaker, {
      name: 'impatient',
      attempts: 5,
      isFresh: false,
      waitsForOutage: () => false,
    });
    expect(await attempt(impatient, DEAD)).toBe(DEAD);
    expect(await attempt(impatient, GOOD)).toBeNull();
  });
});

describe('an abort', () => {
  test('before an attempt means that it is not made', async () => {
    const { breaker } = make();
    const aborted = AbortSignal.abort();
    expect(await attempt(guardedBy(breaker), GOOD, aborted)).toBeNull();
    await attempt(guardedBy(breaker), BAD);
    expect(await attempt(guardedBy(breaker), GOOD, aborted)).toBeNull();
    expect(breaker.isOpen).toBe(true);
  });

  test('while they wait ends the waiting of all without an attempt', async () => {
    const { clock } = make();
    const breaker = new CircuitBreaker(sleepless(clock), () => 0.5, options(GIVE_UP_MS));
    await attempt(guardedBy(breaker), BAD);
    const abort = new AbortController();
    const waiting = [1, 2, 3, 4].map(() => attempt(guardedBy(breaker), GOOD, abort.signal));
    abort.abort();
    expect(await Promise.all(waiting)).toEqual([null, null, null, null]);
    expect(breaker.isAwaited).toBe(false);
  });
});
