import type { HistoryCounts } from '../domain/history.ts';
import type { FileEvent, Transferred } from '../domain/report.ts';
import type { CountedAnswer } from '../platform/pacer.ts';
import type { HistoryStore } from '../store/history.ts';
import { listener } from '../sync/events.ts';

/** Notes what a run does in the history of the attached state file: counts, and events of files. */
export class HistoryRecorder {
  readonly #now: () => number;
  #history: HistoryStore | null = null;

  /** @param now - epoch milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Continues with another state file; `null`: counts nothing. */
  attach(history: HistoryStore | null): void {
    this.#history = history;
  }

  readonly listener = listener({
    file: ({ file, transferred, isKnown = false }) => {
      if (isKnown) return;
      if (isLogged(file)) this.#history?.noteFile(file, this.#now());
      const counts = countsOf(file, transferred);
      if (counts !== null) this.#history?.note(counts, this.#now());
    },
  });

  /** Counts an answer of the platform. */
  readonly answered = ({ wasLimited, limitPerMinute }: CountedAnswer): void => {
    this.#history?.note({ requests: 1, throttled: Number(wasLimited) }, this.#now(), limitPerMinute);
  };
}

/** Returns whether an event belongs in the history of its file: a pass reports each time what it skips. */
function isLogged({ kind, path }: FileEvent): boolean {
  return kind !== 'skip' && path !== '.';
}

/** Returns the counts for a file event; `null`: none. */
export function countsOf(
  { kind, outcome }: FileEvent,
  transferred: Transferred | undefined,
): Partial<HistoryCounts> | null {
  if (outcome === 'failed') return { failed: 1 };
  if (kind === 'refuse') return { refused: 1 };
  if (outcome !== 'done') return null;
  switch (kind) {
    case 'upload':
    case 'renew':
      return { sentFiles: 1, sentBytes: transferred?.bytes ?? 0 };
    case 'update':
      return { updated: 1 };
    case 'adopt':
      return { adopted: 1 };
    case 'remove':
      return { removed: 1 };
    case 'skip':
    case 'problem':
    case 'confirm':
      return null;
  }
}
