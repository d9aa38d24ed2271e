import pLimit, { type LimitFunction } from 'p-limit';

/** Runs jobs side by side, and keeps whoever hands them over from getting far ahead. */
export class Workers {
  readonly #limit: LimitFunction;
  readonly #most: number;
  #failure: { readonly error: unknown } | null = null;
  #wake: (() => void) | null = null;

  /** @param most - jobs at a time. */
  constructor(most: number) {
    this.#limit = pLimit(most);
    this.#most = most;
  }

  /** Hands over a job; resolves when there is room for another. Throws what a job threw. */
  async add(job: () => Promise<void>): Promise<void> {
    void this.#limit(job)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#wake?.());
    await this.#until(() => this.#underWay < this.#most);
  }

  /** Resolves when no job is left. Throws what a job threw. */
  async idle(): Promise<void> {
    await this.#until(() => this.#underWay === 0);
  }

  get #underWay(): number {
    return this.#limit.activeCount + this.#limit.pendingCount;
  }

  async #until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#failure !== null) throw this.#failure.error;
  }
}
