import { rateAt, type ByteRate } from '../domain/byte-rate.ts';
import type { Clock } from '../domain/clock.ts';
import { RequestRate, type AnsweredRequest } from '../domain/request-rate.ts';
import { TokenBucket } from '../domain/token-bucket.ts';
import { Gate, type Urgency } from './gate.ts';

export interface PaceLimits {
  /** The user's limit; `null`: none. */
  readonly maxRequestsPerSecond: number | null;
  /** The user's limit. */
  readonly maxBytesPerSecond: ByteRate;
  /** Longer pauses are not waited for, milliseconds. */
  readonly longestPauseMs: number;
}

/** An answer of the platform, for counters. */
export interface CountedAnswer {
  /** The platform refused the request because of its rate limit (429). */
  readonly wasLimited: boolean;
  /** The platform's limit, requests per minute; `null`: unknown. */
  readonly limitPerMinute: number | null;
}

/** The platform counts requests against its rate limit, the store does not. */
export type Recipient = 'platform' | 'store';

/**
 * The gates that every request passes. All workers share them, so that a pause that the platform asks for applies to
 * all, and requests are sent at the rate that the platform grants (`RequestRate`) and the user allows.
 */
export class Pacer {
  readonly #clock: Clock;
  readonly #rate = new RequestRate();
  readonly #platformGate: Gate;
  /** For `maxRequestsPerSecond`; without that limit only a pause closes it. */
  readonly #userGate: Gate;
  readonly #byteRate: ByteRate;
  /** `null` while there is no limit. */
  #bytes: { readonly perSecond: number; readonly bucket: TokenBucket } | null = null;
  readonly #longestPauseMs: number;
  readonly #onAnswer: (answer: CountedAnswer) => void;
  #pausedUntilMs = -Infinity;
  /** The end of the pause that the platform asked this process for. */
  #askedUntilMs = -Infinity;

  /** @param onAnswer - called for every answer of the platform, not of its store. */
  constructor(limits: PaceLimits, clock: Clock, onAnswer: (answer: CountedAnswer) => void = () => undefined) {
    this.#clock = clock;
    this.#onAnswer = onAnswer;
    const { maxRequestsPerSecond, maxBytesPerSecond } = limits;
    this.#longestPauseMs = limits.longestPauseMs;
    this.#byteRate = maxBytesPerSecond;
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
        nextAtMs: (nowMs) => Math.max(this.#rate.nextAtMs(nowMs), this.#pausedUntilMs),
        released: (nowMs) => {
          this.#rate.released(nowMs);
        },
      },
      clock,
    );
  }

  /**
   * Waits to send one request; returns when it was released, monotonic milliseconds. `null`: it must not be sent,
   * because the pause is too long to wait for, waits were ended, or the signal aborted.
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

  /** Ends all waits for a turn: these requests were not begun, and a stop need not wait for them. */
  endWaits(): void {
    this.#userGate.shut();
    this.#platformGate.shut();
  }

  /** There is a pause that is too long to wait for. */
  get isPausedTooLong(): boolean {
    return this.pausedForMs > this.#longestPauseMs;
  }

  /** Waits to send this many bytes of content; `null`: no wait is needed. */
  bytes(count: number, signal: AbortSignal): Promise<void> | null {
    const waitMs = this.#bucket()?.take(count, this.#clock.monotonic()) ?? 0;
    return waitMs > 0 ? this.#clock.sleep(waitMs, signal) : null;
  }

  /** Returns the bucket for the limit that holds at this time of the day; `null`: there is no limit now. */
  #bucket(): TokenBucket | null {
    const perSecond = rateAt(this.#byteRate, this.#clock.now());
    if (perSecond === null) this.#bytes = null;
    else if (this.#bytes?.perSecond !== perSecond) {
      const bucket = new TokenBucket(perSecond, perSecond / 4, this.#clock.monotonic());
      this.#bytes = { perSecond, bucket };
    }
    return this.#bytes?.bucket ?? null;
  }

  /** The rest of the pause, milliseconds. */
  get pausedForMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#clock.monotonic());
  }

  /** Lets nothing pass for this long from now. */
  pause(ms: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#clock.monotonic() + ms);
    for (const gate of [this.#userGate, this.#platformGate])
      if (this.isPausedTooLong) gate.dismiss();
      else gate.recheck();
  }

  /** Records a pause that the platform asked for: nothing passes. */
  notePauseAsked(ms: number): void {
    this.#askedUntilMs = Math.max(this.#askedUntilMs, this.#clock.monotonic() + ms);
    this.pause(ms);
  }

  /** The rest of the pause that the platform asked for, milliseconds: other hosts should observe it as well. */
  get askedForMs(): number {
    return Math.max(0, this.#askedUntilMs - this.#clock.monotonic());
  }

  /** Records what an answer of the platform reports about its rate limit. */
  noteAnswer(answer: AnsweredRequest): void {
    const restMs = this.#rate.answered(answer, this.#clock.monotonic());
    this.#platformGate.recheck();
    if (restMs > 0) this.pause(restMs);
    this.#onAnswer({ wasLimited: answer.wasLimited, limitPerMinute: this.#rate.limitPerMinute });
  }
}
