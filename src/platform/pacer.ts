import type { Clock } from '../domain/clock.ts';
import type { AnsweredRequest } from '../domain/request-rate.ts';
import { TokenBucket } from '../domain/token-bucket.ts';
import { Gate, type Urgency } from './gate.ts';
import { PlatformGate } from './platform-gate.ts';

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
 * requests go at the rate that the platform grants (`PlatformGate`) and the user allows.
 */
export class Pacer {
  readonly #clock: Clock;
  readonly #platformGate: PlatformGate;
  /** Of `maxRequestsPerSecond`; where there is no such limit only a pause closes it. */
  readonly #userGate: Gate;
  readonly #bytes: TokenBucket | null;
  readonly #longestPauseMs: number;
  readonly #onAnswer: (answer: CountedAnswer) => void;
  #pausedUntilMs = -Infinity;

  /**
   * @param onAnswer - told of every answer of the platform, and not of its store.
   * @param platformGate - may be that of other pacers as well.
   */
  constructor(
    limits: PaceLimits,
    clock: Clock,
    onAnswer: (answer: CountedAnswer) => void = () => undefined,
    platformGate = new PlatformGate(clock),
  ) {
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
    this.#platformGate = platformGate;
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
      ? this.#platformGate.pass(signal, urgency, this)
      : allowed.then((atMs) => (atMs === null ? null : this.#platformGate.pass(signal, urgency, this)));
  }

  /** Nobody waits for a turn any more: what waits was not begun, and a stop need not wait for it. */
  endWaits(): void {
    this.#userGate.shut();
    this.#platformGate.shut(this);
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
    const untilMs = Math.max(this.#pausedUntilMs, this.#platformGate.pausedUntilMs);
    return Math.max(0, untilMs - this.#clock.monotonic());
  }

  /** Lets nothing pass for so many milliseconds from now. */
  pause(ms: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#clock.monotonic() + ms);
    this.#platformGate.pause(ms);
    if (this.isPausedTooLong) {
      this.#userGate.dismiss();
      this.#platformGate.dismiss(this);
    } else {
      this.#userGate.recheck();
    }
  }

  /**
   * The platform refused a request because too many came, or asked for a pause: nothing passes for so long. Within a
   * budget it is a second where it does not say, since no rate is found by being refused then.
   */
  notePauseAsked(askedMs: number | null): void {
    const ms = askedMs ?? (this.#platformGate.isBudgeted ? UNTOLD_PAUSE_MS : 0);
    if (ms <= 0) return;
    this.pause(ms);
    this.#platformGate.noteAskedPause(ms);
  }

  /** Takes note of what an answer of the platform tells of its rate limit. */
  noteAnswer(answer: AnsweredRequest): void {
    const restMs = this.#platformGate.noteAnswer(answer);
    if (restMs > 0) this.pause(restMs);
    this.#onAnswer({ wasLimited: answer.wasLimited, limitPerMinute: this.#platformGate.limitPerMinute });
  }
}
