import type { Summary } from '../../domain/report.ts';
import type { Confirmations } from '../../sync/pass/confirmations.ts';
import type { SendAgain, StatusOutcome } from '../../sync/pass/note-status.ts';
import type { SyncContext } from '../../sync/pass/sync-context.ts';
import type { Log } from '../../service/logger.ts';
import type { EventFeed } from '../events.ts';

/**
 * Asks the platform, during a single pass and for some time after it, for the status of sent files. Files that it lost
 * are sent again.
 */
export class Confirmation {
  readonly #waitMs: number;
  readonly #feed: EventFeed;
  readonly #log: Log;
  readonly #summary: Summary;
  #confirmations: Confirmations | null = null;
  #running: Promise<void> = Promise.resolve();
  #isWaiting = false;
  #searchable = 0;
  #stored = 0;
  #failed = 0;
  #left = 0;

  /** @param waitMs - wait at the end of the pass. */
  constructor(waitMs: number, feed: EventFeed, log: Log, summary: Summary) {
    this.#waitMs = waitMs;
    this.#feed = feed;
    this.#log = log;
    this.#summary = summary;
  }

  /** Starts asking, also about files of earlier runs. Throws `StateFileError`. */
  begin({ confirmations, fail }: SyncContext): void {
    this.#confirmations = confirmations;
    if (confirmations === null) return;
    confirmations.hurry(this.#waitMs > 0);
    this.#running = confirmations.run();
    // A failure ends the pass, and rejects `wait`.
    this.#running.catch(fail);
  }

  /** Waits until every status is final, at most `waitMs`. Throws `StateFileError`. */
  async wait(sendAgain: SendAgain): Promise<void> {
    this.#isWaiting = true;
    this.#countLeft();
    // Marks that earlier runs left to be set are waited for too, but not counted in `#left`: the status of their files is known.
    const isAnythingLeft = this.#confirmations?.isAnythingLeft === true;
    this.#confirmations?.finishWithin(isAnythingLeft ? this.#waitMs : 0, async (lost) => {
      const left = await sendAgain(lost);
      this.#countLeft();
      return left;
    });
    if (this.#left > 0 && this.#waitMs > 0) {
      this.#feed.emit({ kind: 'confirming', words: this.#words() });
      this.#log.debug('waiting for the platform to confirm files', {
        files: this.#left,
        atMostMs: this.#waitMs,
      });
    }
    await this.#running;
  }

  /** Stops asking, also after a failed pass. */
  async end(): Promise<void> {
    this.#confirmations?.finishWithin(0, null);
    await this.#running.catch(() => undefined);
  }

  #countLeft(): void {
    const { unconfirmed = 0, lost = 0 } = this.#confirmations ?? {};
    this.#left = unconfirmed + lost;
  }

  /** Counts a status that the platform reported. */
  count(outcome: StatusOutcome): void {
    switch (outcome) {
      case 'searchable':
        this.#searchable += 1;
        break;
      case 'stored':
        this.#stored += 1;
        break;
      case 'failed':
        this.#failed += 1;
        this.#summary.failed += 1;
        break;
    }
    this.#left -= 1;
    if (this.#isWaiting) this.#feed.emit({ kind: 'confirming', words: this.#words() });
  }

  /** For example "9 sent, 6 searchable, 3 being indexed". */
  #words(): string {
    const { uploaded, renewed } = this.#summary;
    const counts: readonly (readonly [number, string])[] = [
      [uploaded + renewed, 'sent'],
      [this.#searchable, 'searchable'],
      [this.#stored, 'stored'],
      [this.#failed, 'failed'],
      [this.#left, 'being indexed'],
    ];
    return counts
      .filter(([count]) => count > 0)
      .map(([count, what]) => `${count.toLocaleString('en')} ${what}`)
      .join(', ');
  }
}
