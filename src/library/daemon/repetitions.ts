import type { Summary } from '../../domain/report.ts';
import type { Refusal } from '../../sync/daemon/daemon-observer.ts';

/**
 * What the log need not say again. While the platform refuses credentials or room, the same files fail for the same reason in
 * every attempt, once a minute at first: it was said when it began, and is said when it is over.
 */
export class Repetitions {
  readonly #refusals = new Map<Refusal, string>();
  #lastCounts = '';

  /** The platform refuses everything of a kind; `null`: not any more. */
  refused(kind: Refusal, reason: string | null): void {
    if (reason === null) this.#refusals.delete(kind);
    else this.#refusals.set(kind, reason);
  }

  /** Whether a file failed for what was told of everything. */
  isToldFailure(error: string | undefined): boolean {
    return error !== undefined && [...this.#refusals.values()].includes(error);
  }

  /** Whether a pass came to the same as the one before, while something is refused. To be asked once of each pass. */
  isToldPass(summary: Summary): boolean {
    const counts = JSON.stringify({ ...summary, durationMs: 0 });
    const isSame = counts === this.#lastCounts;
    this.#lastCounts = counts;
    return isSame && this.#refusals.size > 0;
  }
}
