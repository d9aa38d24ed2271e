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

  /** Returns the feed for one run, which has one more listener. */
  also(listener: Emit): EventFeed {
    return new EventFeed([...this.#listeners, listener], this.#queues);
  }

  readonly emit: Emit = (event) => {
    for (const listener of this.#listeners) listener(event);
    if (this.#queues.size === 0) return;
    const shown = syncEventOf(event);
    if (shown !== null) for (const queue of this.#queues) queue.push(shown);
  };

  /** Reports something that needs attention and is about no single file. */
  warn(message: string): void {
    this.emit({ kind: 'warning', message });
  }

  /** All events from now on; at most `capacity` of them wait to be taken. */
  events(capacity: number): AsyncIterableIterator<SyncEvent, undefined> {
    const queue = new EventQueue(capacity, () => this.#queues.delete(queue));
    if (this.#isClosed) queue.finish();
    else this.#queues.add(queue);
    return queue;
  }

  /** Ends all iterators, once what waits has been taken. */
  close(): void {
    this.#isClosed = true;
    for (const queue of this.#queues) queue.finish();
    this.#queues.clear();
  }
}

/**
 * Events that wait for one consumer. So many wait at most: what comes while the queue is full is dropped and counted, and
 * the consumer gets the count, in the place of what it missed, before the next event.
 */
export class EventQueue implements AsyncIterableIterator<SyncEvent, undefined> {
  readonly #capacity: number;
  readonly #onClose: () => void;
  readonly #waiting: SyncEvent[] = [];
  #dropped = 0;
  #isClosed = false;
  #wanted: ((result: IteratorResult<SyncEvent, undefined>) => void)[] = [];

  /** @param onClose - called once, when the consumer wants no more. */
  constructor(capacity: number, onClose: () => void) {
    this.#capacity = capacity;
    this.#onClose = onClose;
  }

  /** Takes an event. */
  push(event: SyncEvent): void {
    if (this.#isClosed) return;
    const wanted = this.#wanted.shift();
    if (wanted !== undefined) {
      wanted({ done: false, value: event });
      return;
    }
    const last = this.#waiting.at(-1);
    // Bytes that nobody has heard of yet are one number.
    if (event.kind === 'sent' && last?.kind === 'sent' && this.#dropped === 0)
      this.#waiting[this.#waiting.length - 1] = { kind: 'sent', bytes: last.bytes + event.bytes };
    else if (this.#waiting.length >= this.#capacity) this.#dropped += 1;
    else {
      this.#tellDropped();
      this.#waiting.push(event);
    }
  }

  /** No event follows those that wait. */
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
