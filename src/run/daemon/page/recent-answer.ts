import type { Outcome } from '../../../domain/failure.ts';
import type { Clients } from '../../platform/clients.ts';
import type { PlatformAccess } from '../../platform/platform-access.ts';
import { SyncError } from '../../sync-error.ts';

/** Timeout for an answer, milliseconds. */
const PATIENCE_MS = 10_000;

export interface Answered<T> {
  readonly value: T;
  /** Epoch milliseconds. */
  readonly askedAtMs: number;
}

/** The platform's last answer to one question. Asks only while the page is open. */
export class RecentAnswer<T> {
  readonly #platform: () => PlatformAccess | null;
  readonly #question: (clients: Clients, signal: AbortSignal) => Promise<Outcome<T, unknown>>;
  readonly #keptMs: number;
  readonly #changed: () => void;
  #known: Answered<T> | null = null;
  #askedAtMs = -Infinity;

  /**
   * @param keptMs - time for which an answer is reused, milliseconds, also if it failed.
   * @param changed - called after a new answer.
   */
  constructor(
    platform: () => PlatformAccess | null,
    question: (clients: Clients, signal: AbortSignal) => Promise<Outcome<T, unknown>>,
    keptMs: number,
    changed: () => void,
  ) {
    this.#platform = platform;
    this.#question = question;
    this.#keptMs = keptMs;
    this.#changed = changed;
  }

  /** Returns the last answer; `null`: none. Starts a new request if the answer is too old. */
  lastKnown(): Answered<T> | null {
    const platform = this.#platform();
    if (platform !== null && Date.now() - this.#askedAtMs > this.#keptMs) {
      this.#askedAtMs = Date.now();
      void this.#ask(platform);
    }
    return this.#known;
  }

  async #ask({ clients }: PlatformAccess): Promise<void> {
    try {
      const answer = await this.#question(clients, AbortSignal.timeout(PATIENCE_MS));
      this.#known = answer.kind === 'ok' ? { value: answer.value, askedAtMs: Date.now() } : null;
      this.#changed();
    } catch (error) {
      // The configuration does not permit asking.
      if (!(error instanceof SyncError)) throw error;
      this.#known = null;
    }
  }
}
