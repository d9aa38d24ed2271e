import type { Trigger } from '../events.ts';
import { backoffMs, type Backoff } from '../../domain/retry.ts';
import type { Clock } from '../../domain/clock.ts';
import { Bell } from '../../service/bell.ts';

/** After lost events a pass rests as long as the last one took, so that it takes half the time at most; but no longer than this. */
const LONGEST_REST_MS = 60_000;

/** When the platform refused, it is retried after so long: a person who fixed it should not wait as long as it was broken. */
const RETRY: Backoff = { firstMs: 60_000, longestMs: 15 * 60_000 };

/** How much a rescan comes sooner or later than told, so that many machines do not come at once. */
const JITTER = 0.1;

/** What a pass is made for, the weakest first: of several that are wanted the strongest counts. One that was asked for, or approved of, tries everything again. */
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

/** Says when the next pass over everything is to be made, and why. */
export class PassSchedule {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #bell = new Bell();
  #wanted: Trigger | null = null;
  #beganMs = 0;
  /** By the monotonic clock. */
  #dueAtMs = Infinity;
  /** By the wall clock: a machine that slept has time to make up for. */
  #dueAtWallMs = Infinity;
  #restUntilMs = 0;
  /** When the platform refused, it is retried then, by the monotonic clock; `null`: it did not. */
  #retryAtMs: number | null = null;
  #refusals = 0;
  /** Whether the pass that began last was to try again what was refused. */
  #isRetry = false;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Asks for a pass. */
  want(trigger: Trigger): void {
    if (this.#wanted === null || STRENGTH.indexOf(trigger) > STRENGTH.indexOf(this.#wanted))
      this.#wanted = trigger;
    this.#bell.ring();
  }

  /** Has the waiting caller check whether there is other work. */
  wake(): void {
    this.#bell.ring();
  }

  /** A pass begins: it does for all that was wanted until now. */
  begin(): void {
    this.#wanted = null;
    this.#dueAtMs = this.#dueAtWallMs = Infinity;
    this.#beganMs = this.#clock.monotonic();
    this.#isRetry = this.mayRetry;
  }

  /** A pass ended; the next is due in about `everyMs`, sooner when the platform refused. */
  end(everyMs: number, isBlocked: boolean): void {
    const nowMs = this.#clock.monotonic();
    if (!isBlocked) this.#retryAtMs = null;
    // A pass before its time tried nothing.
    else if (this.#isRetry) this.#retryAtMs = nowMs + backoffMs(RETRY, ++this.#refusals);
    if (!isBlocked) this.#refusals = 0;
    const jittered = everyMs * (1 - JITTER + 2 * JITTER * this.#random());
    const waitMs = Math.min(jittered, (this.#retryAtMs ?? Infinity) - nowMs);
    this.#dueAtMs = nowMs + waitMs;
    this.#dueAtWallMs = this.#clock.now() + waitMs;
    this.#restUntilMs = nowMs + Math.min(nowMs - this.#beganMs, LONGEST_REST_MS);
  }

  /** The platform refused a file between passes: a pass is due in a while to try again. */
  noteBlocked(): void {
    if (this.#retryAtMs !== null) return;
    this.#retryAtMs = this.#clock.monotonic() + RETRY.firstMs;
    this.#refusals = 1;
    this.#dueAtMs = Math.min(this.#dueAtMs, this.#retryAtMs);
    this.#bell.ring();
  }

  /** Whether a pass that begins now may try what the platform refused before. */
  get mayRetry(): boolean {
    return this.#retryAtMs === null || this.#clock.monotonic() >= this.#retryAtMs;
  }

  /** When the next pass is due, by the monotonic clock; `null`: one is under way. */
  get dueAtMs(): number | null {
    return this.#dueAtMs === Infinity ? null : this.#dueAtMs;
  }

  /** When what the platform refused is retried, by the monotonic clock; `null`: it refused nothing. */
  get retryAtMs(): number | null {
    return this.#retryAtMs;
  }

  /** Notices that by the wall clock a pass is due: the other one may stand still while a machine sleeps. */
  checkWallClock(): void {
    if (this.#clock.now() >= this.#dueAtWallMs && this.#wanted === null) this.want('rescan');
  }

  /** Waits until a pass is to be made and says why; `null` for other work, or a stop. */
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
