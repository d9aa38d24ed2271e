import { readFileSync } from 'node:fs';

/** The kernel keeps 16,384 events for us unless told otherwise; more are lost, and Node does not say so. */
const MOST_EVENTS_A_TURN = 4000;

/**
 * Notices that the kernel's queue of events may have overflowed: a turn of the event loop empties the queue, so one
 * that brings thousands of events found it well filled.
 *
 * All watches of a process share one queue: where it overflows, every tree may have lost events, also one that is told
 * of none. That is why this is one for all trees.
 */
class KernelQueue {
  readonly #listeners = new Set<() => void>();
  #events = 0;
  #limit: number | null = null;

  /** Tells a tree when the queue may have overflowed; returns how to stop that. */
  join(listener: () => void): () => void {
    this.#limit ??= eventsAllowed();
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Counts an event, of whichever tree. */
  count(): void {
    if (this.#events === 0) {
      setImmediate(() => {
        this.#events = 0;
      });
    }
    this.#events += 1;
    if (this.#events === this.#limit) for (const listener of this.#listeners) listener();
  }
}

function eventsAllowed(): number {
  try {
    const queued = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'));
    return Math.max(1, Math.min(MOST_EVENTS_A_TURN, Math.floor(queued / 4)));
  } catch {
    // Not Linux: the queue is another one, of unknown length.
    return MOST_EVENTS_A_TURN;
  }
}

/** The queue of this process. */
export const kernelQueue = new KernelQueue();
