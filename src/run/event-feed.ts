import type { Emit } from '../sync/events.ts';
import { syncEventOf, type SyncEvent } from './events.ts';

/** Passes the events of runs on to listeners, and to readers of `events()`. */
export class EventFeed {
  readonly #listeners: readonly Emit[];
  readonly #queues: Set<EventQueue>;
  #isClosed = false;

  constructor(listeners: readonly Emit[], queues = new Set<EventQueue>()) {
    this.#listeners = listeners;
    this.#queues = queues;
  }

  /** Returns the feed for one run, which has more listeners. */
  also(...listeners: readonly Emit[]): EventFeed {
    return new EventFeed([...this.#listeners, ...listeners], this.#queues);
  }

  readonly emit: Emit = (event) => {
    for (const listener of this.#listeners) listener(event);
    if (this.#queues.size === 0) return;
    const shown = syncEventOf(event);
    if (shown !== null) for (const queue of this.#queues) queue.push(shown);
  };

  /** Reports something that needs attention and is about no single file. */
  readonly warn = (message: string): void => {
    this.emit({ kind: 'warning', message });
  };

  /** Returns an iterator over all events from now on, which queues at most `capacity` events. */
  events(capacity: number): AsyncIterableIterator<SyncEvent, undefined> {
    const queue = new EventQueue(capacity, () => this.#queues.delete(queue));
    if (this.#isClosed) queue.finish();
    else this.#queues.add(queue);
    return queue;
  }

  /** Ends all iterators after the queued events. */
  close(): void {
    this.#isClosed = true;
    for (const queue of this.#queues) queue.finish();
    this.#queues.clear();
  }
}

/**
 * Events queued for one consumer, at most `capacity`. Events that find the queue full are dropped and counted; the
 * consumer receives the count in their place.
 */
export class EventQueue implements AsyncIterableIterator<SyncEvent, undefined> {
  readonly #capacity: number;
  readonly #onClose: () => void;
  readonly #waiting: SyncEvent[] = [];
  #dropped = 0;
  #isClosed = false;
  #wanted: ((result: IteratorResult<SyncEvent, undefined>) => void)[] = [];

  /** @param onClose - called once, when the consumer stops reading. */
  constructor(capacity: number, onClose: () => void) {
    this.#capacity = capacity;
    this.#onClose = onClose;
  }

  push(event: SyncEvent): void {
    if (this.#isClosed) return;
    const wanted = this.#wanted.shift();
    if (wanted !== undefined) {
      wanted({ done: false, value: event });
      return;
    }
    const last = this.#waiting.at(-1);
    // Adds up byte counts that nobody has read yet.
    if (event.kind === 'sent' && last?.kind === 'sent' && this.#dropped === 0)
      this.#waiting[this.#waiting.length - 1] = { kind: 'sent', bytes: last.bytes + event.bytes };
    else if (this.#waiting.length >= this.#capacity) this.#dropped += 1;
    else {
      this.#tellDropped();
      this.#waiting.push(event);
    }
  }

  /** Ends the iterator after the queued events. */
  finish(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#tellDropped();
    for (const wanted of this.#wanted) wanted(END);
    this.#wanted = [];
  }

  next(): Promise<IteratorResult<SyncEvent, undefined>> {
    const value = this.#waiting.shift();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#dropped > 0) {
      const missed: SyncEvent = { kind: 'dropped', count: this.#dropped };
      this.#dropped = 0;
      return Promise.resolve({ done: false, value: missed });
    }
    if (this.#isClosed) return Promise.resolve(END);
    return new Promise((resolve) => this.#wanted.push(resolve));
  }

  return(): Promise<IteratorResult<SyncEvent, undefined>> {
    this.#waiting.length = 0;
    this.#dropped = 0;
    this.finish();
    this.#onClose();
    return Promise.resolve(END);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #tellDropped(): void {
    if (this.#dropped === 0) return;
    this.#waiting.push({ kind: 'dropped', count: this.#dropped });
    this.#dropped = 0;
  }
}
const END = { done: true, value: undefined } as const;
