import type { Trigger } from '../events.ts';
import { backoffMs, type Backoff } from '../../domain/retry.ts';
import type { Clock } from '../../domain/clock.ts';
import { Bell } from '../../service/bell.ts';

/**
 * The longest rest after a pass, milliseconds. For lost events, the rest is as long as the last pass took, so that
 * passes run at most half of the time.
 */
const LONGEST_REST_MS = 60_000;

/** Delays before a refusal by the platform is retried. They are bounded, so that a fix takes effect soon. */
const RETRY: Backoff = { firstMs: 60_000, longestMs: 15 * 60_000 };

/** Rescans come earlier or later by up to this fraction, so that many machines do not come at the same time. */
const JITTER = 0.1;

/**
 * Triggers of passes, weakest first; of several wanted at a time, the strongest counts. A pass that was requested or
 * approved retries everything.
 */
const STRENGTH: readonly Trigger[] = [
  'lost',
  'rescan',
  'ignore-file',
  'root',
  'recovered',
  'asked',
  'approved',
  'reload',
  'start',
];

/** Decides when the next pass over everything begins, and why. */
export class PassSchedule {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #bell = new Bell();
  #wanted: Trigger | null = null;
  #beganMs = 0;
  /** By the monotonic clock. */
  #dueAtMs = Infinity;
  /** By the wall clock: a machine that slept must catch up. */
  #dueAtWallMs = Infinity;
  #restUntilMs = 0;
  /** When a refusal by the platform is retried, by the monotonic clock; `null`: no refusal. */
  #retryAtMs: number | null = null;
  #refusals = 0;
  /** The last pass retried refused files. */
  #isRetry = false;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  readonly want = (trigger: Trigger): void => {
    if (this.#wanted === null || STRENGTH.indexOf(trigger) > STRENGTH.indexOf(this.#wanted))
      this.#wanted = trigger;
    this.#bell.ring();
  };

  /** Has the waiting caller check whether there is other work. */
  wake(): void {
    this.#bell.ring();
  }

  /** Notes that a pass begins, which serves all requests so far. */
  begin(): void {
    this.#wanted = null;
    this.#dueAtMs = this.#dueAtWallMs = Infinity;
    this.#beganMs = this.#clock.monotonic();
    this.#isRetry = this.mayRetry;
  }

  /** Notes that a pass ended. The next is due in about `everyMs`, sooner if the platform refused. */
  end(everyMs: number, isBlocked: boolean): void {
    const nowMs = this.#clock.monotonic();
    if (!isBlocked) this.#retryAtMs = null;
    // A pass before the retry time tried nothing.
    else if (this.#isRetry) this.#retryAtMs = nowMs + backoffMs(RETRY, ++this.#refusals);
    if (!isBlocked) this.#refusals = 0;
    const jittered = everyMs * (1 - JITTER + 2 * JITTER * this.#random());
    const waitMs = Math.min(jittered, (this.#retryAtMs ?? Infinity) - nowMs);
    this.#dueAtMs = nowMs + waitMs;
    this.#dueAtWallMs = this.#clock.now() + waitMs;
    this.#restUntilMs = nowMs + Math.min(nowMs - this.#beganMs, LONGEST_REST_MS);
  }

  /** Notes that the platform refused a file between passes, and schedules a pass to retry it. */
  noteBlocked(): void {
    if (this.#retryAtMs !== null) return;
    this.#retryAtMs = this.#clock.monotonic() + RETRY.firstMs;
    this.#refusals = 1;
    this.#dueAtMs = Math.min(this.#dueAtMs, this.#retryAtMs);
    this.#bell.ring();
  }

  /** A pass that begins now may retry what the platform refused. */
  get mayRetry(): boolean {
    return this.#retryAtMs === null || this.#clock.monotonic() >= this.#retryAtMs;
  }

  /** When the next pass is due, by the monotonic clock; `null`: a pass is running. */
  get dueAtMs(): number | null {
    return this.#dueAtMs === Infinity ? null : this.#dueAtMs;
  }

  /** When a refusal by the platform is retried, by the monotonic clock; `null`: no refusal. */
  get retryAtMs(): number | null {
    return this.#retryAtMs;
  }

  /** Requests a pass that is due by the wall clock: the monotonic clock may stop while a machine sleeps. */
  checkWallClock(): void {
    if (this.#clock.now() >= this.#dueAtWallMs && this.#wanted === null) this.want('rescan');
  }

  /** Waits until a pass is due and returns its trigger; `null`: other work is due, or a stop. */
  async next(stop: AbortSignal, isOtherWorkDue: () => boolean): Promise<Trigger | null> {
    while (!stop.aborted) {
      const nowMs = this.#clock.monotonic();
      const mayBeginAtMs = this.#wanted === 'lost' ? this.#restUntilMs : nowMs;
      if (this.#wanted !== null && nowMs >= mayBeginAtMs) return this.#wanted;
      if (nowMs >= this.#dueAtMs) return 'rescan';
      if (isOtherWorkDue()) return null;
      const untilMs = this.#wanted === null ? this.#dueAtMs : Math.min(this.#dueAtMs, mayBeginAtMs);
      await this.#bell.wait(this.#clock, untilMs - nowMs, stop);
    }
    return null;
  }
}
