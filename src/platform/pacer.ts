import type { Clock } from '../domain/clock.ts';
import { RequestRate, type AnsweredRequest } from '../domain/request-rate.ts';
import { RequestWish } from '../domain/request-wish.ts';
import type { HeldShare } from '../domain/share.ts';
import { SharePace } from '../domain/share-pace.ts';
import { TokenBucket } from '../domain/token-bucket.ts';
import { Gate, type Urgency } from './gate.ts';

/** How fast requests may go, and how long they wait. */
export interface PaceLimits {
  /** The user's; `null`: none. */
  readonly maxRequestsPerSecond: number | null;
  /** The user's; `null`: none. */
  readonly maxBytesPerSecond: number | null;
  /** A longer pause than this is not waited for, milliseconds. */
  readonly longestPauseMs: number;
}

/** How long a refusal of the platform holds up a budget that does not say for how long: the window of its limit. */
const UNTOLD_PAUSE_MS = 1000;

/** What an answer of the platform is counted as. */
export interface CountedAnswer {
  /** Whether the platform refused the request because of its rate limit (429). */
  readonly wasLimited: boolean;
  /** The platform's limit, requests a minute; `null`: it is not known. */
  readonly limitPerMinute: number | null;
}

/** Who a request goes to: the platform counts requests against its rate limit, the store does not. */
export type Recipient = 'platform' | 'store';

/**
 * The gates that every request passes: the same for all workers, so that a pause the platform asks for holds for all, and
 * requests go at the rate that the platform grants (`RequestRate`) and the user allows. Where several hosts share a budget
 * they go at this host's share of it instead.
 */
export class Pacer {
  readonly #clock: Clock;
  readonly #rate = new RequestRate();
  readonly #wish = new RequestWish();
  /** `null`: there is no budget. */
  #share: SharePace | null = null;
  #onAskedPause: (ms: number) => void = () => undefined;
  readonly #platformGate: Gate;
  /** Of `maxRequestsPerSecond`; where there is no such limit only a pause closes it. */
  readonly #userGate: Gate;
  readonly #bytes: TokenBucket | null;
  readonly #longestPauseMs: number;
  readonly #onAnswer: (answer: CountedAnswer) => void;
  #pausedUntilMs = -Infinity;

  /** @param onAnswer - told of every answer of the platform, and not of its store. */
  constructor(limits: PaceLimits, clock: Clock, onAnswer: (answer: CountedAnswer) => void = () => undefined) {
    this.#clock = clock;
    this.#onAnswer = onAnswer;
    const { maxRequestsPerSecond, maxBytesPerSecond } = limits;
    this.#longestPauseMs = limits.longestPauseMs;
    this.#bytes =
      maxBytesPerSecond === null
        ? null
        : new TokenBucket(maxBytesPerSecond, maxBytesPerSecond / 4, clock.monotonic());
    const intervalMs = maxRequestsPerSecond === null ? 0 : 1000 / maxRequestsPerSecond;
    let nextAtMs = -Infinity;
    this.#userGate = new Gate(
      {
        nextAtMs: () => Math.max(nextAtMs, this.#pausedUntilMs),
        released: (nowMs) => {
          nextAtMs = nowMs + intervalMs;
        },
      },
      clock,
    );
    this.#platformGate = new Gate(
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

  /**
   * Waits for the right to send one request; gives when it was released, by the monotonic clock. `null`: it has none, since
   * the pause is too long to wait for, nobody waits any longer, or the signal aborted.
   */
  turn(
    recipient: Recipient,
    signal: AbortSignal,
    urgency: Urgency = 'file',
  ): number | null | Promise<number | null> {
    if (this.isPausedTooLong) return null;
    const allowed = this.#userGate.pass(signal, urgency);
    if (recipient === 'store' || allowed === null) return allowed;
    return typeof allowed === 'number'
      ? this.#platformGate.pass(signal, urgency)
      : allowed.then((atMs) => (atMs === null ? null : this.#platformGate.pass(signal, urgency)));
  }

  /** Nobody waits for a turn any more: what waits was not begun, and a stop need not wait for it. */
  endWaits(): void {
    this.#userGate.shut();
    this.#platformGate.shut();
  }

  /** Whether there is a pause that is too long to wait for. */
  get isPausedTooLong(): boolean {
    return this.pausedForMs > this.#longestPauseMs;
  }

  /** Waits for the right to send so many bytes of content; `null` when there is no limit to wait for. */
  bytes(count: number, signal: AbortSignal): Promise<void> | null {
    const waitMs = this.#bytes?.take(count, this.#clock.monotonic()) ?? 0;
    return waitMs > 0 ? this.#clock.sleep(waitMs, signal) : null;
  }

  /** How long nothing will pass from now, milliseconds. */
  get pausedForMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#clock.monotonic());
  }

  /** Lets nothing pass for so many milliseconds from now. */
  pause(ms: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#clock.monotonic() + ms);
    for (const gate of [this.#userGate, this.#platformGate])
      if (this.isPausedTooLong) gate.dismiss();
      else gate.recheck();
  }

  /**
   * The platform is asked at this share of a budget from now on, whatever its answers say is left; `null`: there is no
   * budget. A share ends by the clock of this pacer.
   */
  setShare(share: HeldShare | null): void {
    const nowMs = this.#clock.monotonic();
    if (share === null || this.#share === null)
      this.#share = share === null ? null : new SharePace(share, nowMs);
    else this.#share.setShare(share, nowMs);
    this.#platformGate.recheck();
  }

  /** How many requests a second could go to the platform; `Infinity`: more than may. */
  get wanted(): number {
    const { waiting, waitingSinceMs } = this.#platformGate;
    return this.#wish.perSecond(waiting, waitingSinceMs, this.#clock.monotonic());
  }

  /** Is told of every pause that the platform asks for, milliseconds, so that other hosts keep it as well. */
  onAskedPause(told: (ms: number) => void): void {
    this.#onAskedPause = told;
  }

  /**
   * The platform refused a request because too many came, or asked for a pause: nothing passes for so long. Within a
   * budget it is a second where it does not say, since no rate is found by being refused then.
   */
  notePauseAsked(askedMs: number | null): void {
    const ms = askedMs ?? (this.#share === null ? 0 : UNTOLD_PAUSE_MS);
    if (ms <= 0) return;
    this.pause(ms);
    this.#onAskedPause(ms);
  }

  /** Takes note of what an answer of the platform tells of its rate limit. */
  noteAnswer(answer: AnsweredRequest): void {
    const restMs = this.#rate.answered(answer, this.#clock.monotonic());
    if (restMs > 0 && this.#share === null) this.pause(restMs);
    this.#platformGate.recheck();
    this.#onAnswer({ wasLimited: answer.wasLimited, limitPerMinute: this.#rate.limitPerMinute });
  }
}
