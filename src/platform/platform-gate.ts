import type { Clock } from '../domain/clock.ts';
import { RequestRate, type AnsweredRequest } from '../domain/request-rate.ts';
import { RequestWish } from '../domain/request-wish.ts';
import type { HeldShare } from '../domain/share.ts';
import { SharePace } from '../domain/share-pace.ts';
import { Gate, type Urgency } from './gate.ts';

/**
 * The gate that every request to the platform passes, of one pacer or of all pacers of a process: at the rate that the platform
 * grants (`RequestRate`), or, where several hosts share a budget, at this host's share of it.
 */
export class PlatformGate {
  readonly #clock: Clock;
  readonly #rate = new RequestRate();
  readonly #wish = new RequestWish();
  readonly #gate: Gate;
  /** `null`: there is no budget. */
  #share: SharePace | null = null;
  #pausedUntilMs = -Infinity;
  #onAskedPause: (ms: number) => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#gate = new Gate(
      {
        nextAtMs: (nowMs) => Math.max((this.#share ?? this.#rate).nextAtMs(nowMs), this.#pausedUntilMs),
        released: (nowMs) => {
          this.#rate.released(nowMs);
          this.#share?.released(nowMs);
          this.#wish.released(nowMs);
        },
      },
      clock,
    );
  }

  /** See `Gate.pass`. */
  pass(signal: AbortSignal, urgency: Urgency, owner: object): number | null | Promise<number | null> {
    return this.#gate.pass(signal, urgency, owner);
  }

  /** See `Gate.dismiss`. */
  dismiss(owner: object): void {
    this.#gate.dismiss(owner);
  }

  /** See `Gate.shut`. */
  shut(owner: object): void {
    this.#gate.shut(owner);
  }

  /** Until when nothing passes, by the monotonic clock. */
  get pausedUntilMs(): number {
    return this.#pausedUntilMs;
  }

  /** Lets nothing pass for so many milliseconds from now. */
  pause(ms: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#clock.monotonic() + ms);
    this.#gate.recheck();
  }

  /**
   * The platform is asked at this share of a budget from now on, whatever its answers say is left; `null`: there is no
   * budget. A share ends by the clock of this gate.
   */
  setShare(share: HeldShare | null): void {
    const nowMs = this.#clock.monotonic();
    if (share === null || this.#share === null)
      this.#share = share === null ? null : new SharePace(share, nowMs);
    else this.#share.setShare(share, nowMs);
    this.#gate.recheck();
  }

  /** Whether requests go at a share of a budget. */
  get isBudgeted(): boolean {
    return this.#share !== null;
  }

  /** How many requests a second could go to the platform; `Infinity`: more than may. */
  get wanted(): number {
    const { waiting, waitingSinceMs } = this.#gate;
    return this.#wish.perSecond(waiting, waitingSinceMs, this.#clock.monotonic());
  }

  /** Is told of every pause that the platform asks for, milliseconds, so that other hosts keep it as well. */
  onAskedPause(told: (ms: number) => void): void {
    this.#onAskedPause = told;
  }

  /** The platform asked for a pause: nothing passes, and whoever is to know is told. */
  noteAskedPause(ms: number): void {
    this.pause(ms);
    this.#onAskedPause(ms);
  }

  /**
   * Takes note of what an answer of the platform tells of its rate limit. Returns for how long nothing is to be sent,
   * milliseconds: the limit is used up.
   */
  noteAnswer(answer: AnsweredRequest): number {
    const restMs = this.#rate.answered(answer, this.#clock.monotonic());
    this.#gate.recheck();
    return this.isBudgeted ? 0 : restMs;
  }

  /** The platform's limit, requests a minute; `null`: none is known. */
  get limitPerMinute(): number | null {
    return this.#rate.limitPerMinute;
  }
}
