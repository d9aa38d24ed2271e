import type { FileEvent, Summary } from '../../domain/report.ts';
import type { Refusal, Trigger } from '../../sync/daemon/daemon-observer.ts';

/** So many files that were told of are remembered. */
const MOST_REMEMBERED = 10_000;

/**
 * What the log need not say again. While the platform refuses credentials or room, the same files fail for the same reason in
 * every attempt, once a minute at first: it was said when it began, and is said when it is over. A file that stays as it is, and
 * what a rescan comes to, are told once, however often a directory is polled.
 */
export class Repetitions {
  readonly #refusals = new Map<Refusal, string>();
  /** What passes came to last, by their sources. */
  readonly #lastCounts = new Map<string, string>();
  readonly #told = new Set<string>();

  /** The platform refuses everything of a kind; `null`: not any more. */
  refused(kind: Refusal, reason: string | null): void {
    if (reason === null) this.#refusals.delete(kind);
    else this.#refusals.set(kind, reason);
  }

  /**
   * Whether a file failed for what was told of everything, or was told of in the same words. To be asked once of each event.
   *
   * @param isKnown - whether an earlier pass met the same.
   */
  isToldEvent({ kind, source, path, reason, error }: FileEvent, isKnown: boolean): boolean {
    if (error !== undefined && [...this.#refusals.values()].includes(error)) return true;
    if (error === undefined && kind !== 'refuse' && kind !== 'problem') return false;
    const name = JSON.stringify([kind, source, path, reason, error]);
    const isTold = this.#told.has(name);
    if (this.#told.size >= MOST_REMEMBERED) this.#told.clear();
    this.#told.add(name);
    return isTold && isKnown;
  }

  /**
   * Whether a pass over some sources came to the same as the one before, and nobody waits to hear that: it is a rescan, or
   * something is refused. To be asked once of each pass.
   */
  isToldPass(trigger: Trigger, sources: readonly string[], summary: Summary): boolean {
    const name = sources.join('\0');
    const counts = JSON.stringify({ ...summary, durationMs: 0 });
    const isSame = counts === this.#lastCounts.get(name);
    this.#lastCounts.set(name, counts);
    return isSame && (trigger === 'rescan' || this.#refusals.size > 0);
  }
}
