import type { Clock } from '../domain/clock.ts';
import { TokenBucket } from '../domain/token-bucket.ts';
import type { RateLimit } from './rate-limit.ts';

/** Limits that the user set; `null`: none. */
export interface PaceLimits {
  readonly maxRequestsPerSecond: number | null;
  readonly maxBytesPerSecond: number | null;
}

/** Requests that may be under way when an answer is read: so many must stay in reserve. */
const RESERVE = 16;

/** To slow down is our own idea: where a whole window is long, nobody waits longer than this for the next turn. */
const LONGEST_SPACING_MS = 10_000;

/** When a window is over, one request goes ahead to find out about the next, and the others wait so long for its answer. */
const PROBE_MS = 250;

/**
 * The gate that every request passes: one for all workers, so that a pause the platform asks for holds for all, and the
 * rate goes down before its limit is hit.
 */
export class Pacer {
  readonly #clock: Clock;
  readonly #requests: TokenBucket | null;
  readonly #bytes: TokenBucket | null;
  #pausedUntilMs = 0;
  #spacingMs = 0;
  #spacedUntilMs = 0;
  #nextTurnMs = 0;
  /** Whether an answer told of the window that is spaced; after it one request asks about the next. */
  #isWindow = false;

  constructor(limits: PaceLimits, clock: Clock) {
    const nowMs = clock.monotonic();
    this.#clock = clock;
    this.#requests =
      limits.maxRequestsPerSecond === null ? null : new TokenBucket(limits.maxRequestsPerSecond, 1, nowMs);
    this.#bytes =
      limits.maxBytesPerSecond === null
        ? null
        : new TokenBucket(limits.maxBytesPerSecond, limits.maxBytesPerSecond / 4, nowMs);
  }

  /** Waits for the right to send one request to the platform or the store; `null` when there is nothing to wait for. */
  turn(signal: AbortSignal): Promise<void> | null {
    const nowMs = this.#clock.monotonic();
    const waitMs = this.#requests?.take(1, nowMs) ?? 0;
    return waitMs > 0 || nowMs < this.#pausedUntilMs || nowMs < this.#spacedUntilMs
      ? this.#wait(waitMs, signal)
      : null;
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
  }

  /** Takes note of what an answer said of the rate limit: the last requests of a window are spread over its rest. */
  noteRateLimit({ remaining, resetMs }: RateLimit): void {
    const spare = remaining - RESERVE;
    if (remaining === 0) {
      this.pause(resetMs);
    } else if (spare < RESERVE) {
      this.#spacingMs = Math.min(resetMs / Math.max(1, spare + RESERVE), LONGEST_SPACING_MS);
      this.#spacedUntilMs = this.#clock.monotonic() + resetMs;
      this.#isWindow = true;
    } else {
      this.#spacedUntilMs = 0;
      this.#isWindow = false;
    }
  }

  async #wait(waitMs: number, signal: AbortSignal): Promise<void> {
    if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
    for (let windows = 0; !signal.aborted; windows++) {
      await this.#pauseOver(signal);
      const nowMs = this.#clock.monotonic();
      if (nowMs >= this.#spacedUntilMs) {
        if (windows > 0 && this.#isWindow) {
          this.#isWindow = false;
          this.#spacedUntilMs = nowMs + PROBE_MS;
          this.#spacingMs = PROBE_MS;
        }
        return;
      }
      const turnMs = Math.max(this.#nextTurnMs, nowMs) + this.#spacingMs;
      if (turnMs < this.#spacedUntilMs) {
        this.#nextTurnMs = turnMs;
        await this.#clock.sleep(turnMs - nowMs, signal);
        await this.#pauseOver(signal);
        return;
      }
      // There is no turn left in this window: the next one is asked for again.
      await this.#clock.sleep(this.#spacedUntilMs - nowMs, signal);
    }
  }

  async #pauseOver(signal: AbortSignal): Promise<void> {
    for (
      let nowMs = this.#clock.monotonic();
      nowMs < this.#pausedUntilMs && !signal.aborted;
      nowMs = this.#clock.monotonic()
    ) {
      await this.#clock.sleep(this.#pausedUntilMs - nowMs, signal);
    }
  }
}
