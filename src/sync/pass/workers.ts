import { setImmediate } from 'node:timers/promises';

/** A scan that had to wait goes on when there is this much room: files that are scanned together share what they cost. */
const ROOM_TO_GO_ON = 16;

/** Runs jobs side by side, and keeps the scan that hands them over from getting far ahead. */
export class Workers {
  readonly #most: number;
  readonly #onFailure: () => void;
  readonly #abandon: AbortSignal;
  #underWay = 0;
  #failure: { readonly error: unknown } | null = null;
  #waiting: (() => void)[] = [];

  /**
   * @param most - jobs at a time.
   * @param onFailure - called when a job throws, before anybody waits.
   * @param abandon - nobody waits for the jobs any more once it aborts; they go on by themselves.
   */
  constructor(most: number, onFailure: () => void, abandon: AbortSignal) {
    this.#most = most;
    this.#onFailure = onFailure;
    this.#abandon = abandon;
  }

  /**
   * Starts a job; resolves when there is room for another. Where there was none, that is when there is room for several,
   * and connections have had their turn: the next requests go out before the next files are looked for. Throws what a
   * job threw.
   */
  async add(job: () => Promise<void>): Promise<void> {
    this.#underWay += 1;
    void this.#run(job);
    const isFull = this.#underWay >= this.#most;
    const enough = isFull ? Math.max(1, this.#most - ROOM_TO_GO_ON) : this.#most;
    await this.#until(() => this.#underWay < enough);
    if (isFull) await setImmediate();
  }

  /** Resolves when no job is left. Throws what a job threw. */
  async idle(): Promise<void> {
    await this.#until(() => this.#underWay === 0);
  }

  /** Resolves when no job is left, whatever became of them. */
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

  /** Those who still have to wait line up again behind the one that got the room: several walks take turns. */
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
    // The signal outlives us: passes come and go, and none may leave a listener behind.
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
