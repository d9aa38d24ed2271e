import { setImmediate } from 'node:timers/promises';

/** A scan that had to wait continues when there is this much room: files that are scanned together share costs. */
const ROOM_TO_GO_ON = 16;

/** Runs jobs concurrently, and keeps the scan that adds them from getting far ahead. */
export class Workers {
  readonly #most: number;
  readonly #onFailure: () => void;
  readonly #abandon: AbortSignal;
  #underWay = 0;
  #failure: { readonly error: unknown } | null = null;
  #waiting: (() => void)[] = [];

  /**
   * @param most - the most concurrent jobs.
   * @param onFailure - called when a job throws, before any waiting caller continues.
   * @param abandon - ends all waiting once it aborts; running jobs continue.
   */
  constructor(most: number, onFailure: () => void, abandon: AbortSignal) {
    this.#most = most;
    this.#onFailure = onFailure;
    this.#abandon = abandon;
  }

  /**
   * Starts a job and resolves when there is room for another. If there was none, waits until there is room for several
   * and connections have had a turn, so that the next requests are sent before the next files are scanned. Throws the
   * error of a failed job.
   */
  async add(job: () => Promise<void>): Promise<void> {
    this.#underWay += 1;
    void this.#run(job);
    const isFull = this.#underWay >= this.#most;
    const enough = isFull ? Math.max(1, this.#most - ROOM_TO_GO_ON) : this.#most;
    await this.#until(() => this.#underWay < enough);
    if (isFull) await setImmediate();
  }

  /** Resolves when no job is left. Throws the error of a failed job. */
  async idle(): Promise<void> {
    await this.#until(() => this.#underWay === 0);
  }

  /** Resolves when no job is left, without throwing. */
  async drain(): Promise<void> {
    await this.idle().catch(() => undefined);
  }

  async #run(job: () => Promise<void>): Promise<void> {
    try {
      await job();
    } catch (error) {
      this.#failure ??= { error };
      this.#onFailure();
    }
    this.#underWay -= 1;
    this.#wakeAll();
  }

  /**
   * Wakes all waiting callers: those that must still wait queue again behind the one that got the room, so that walks
   * take turns.
   */
  #wakeAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  async #until(isTrue: () => boolean): Promise<void> {
    if (!isTrue()) await this.#wait(isTrue);
    if (this.#failure !== null) throw this.#failure.error;
  }

  async #wait(isTrue: () => boolean): Promise<void> {
    const wake = (): void => {
      this.#wakeAll();
    };
    // The signal outlives this object, so the listener must be removed.
    this.#abandon.addEventListener('abort', wake);
    try {
      while (!isTrue() && !this.#abandon.aborted) {
        await new Promise<void>((resolve) => {
          this.#waiting.push(resolve);
        });
      }
    } finally {
      this.#abandon.removeEventListener('abort', wake);
    }
  }
}

/** Runs loops concurrently. If one throws, ends the others by `fail`, and throws its error once all have ended. */
export async function together(
  others: { readonly fail: () => void },
  loops: readonly Promise<void>[],
): Promise<void> {
  const watched = loops.map(async (loop) => {
    try {
      await loop;
    } catch (error) {
      others.fail();
      throw error;
    }
  });
  for (const loop of await Promise.allSettled(watched)) if (loop.status === 'rejected') throw loop.reason;
}
