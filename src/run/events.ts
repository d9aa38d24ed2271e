import type { FileEvent, Summary, Transferred } from '../domain/report.ts';
import type { Additions, Usages } from '../domain/usage.ts';
import type { FileDifference } from '../sync/catalog/compare.ts';
import type { Refusal, RunEvent, Trigger, Emit } from '../sync/events.ts';
import type { Verified } from '../domain/status.ts';
import { haltAsFileEvent } from '../words/halt.ts';
import { passOutcomeOf, type PassOutcome } from './pass-outcome.ts';

/**
 * An event of a run:
 * - `file`: a result for a file, or for a whole source (then `path` is "."); `transferred`: what was sent for it.
 * - `planned`: what a pass would do with a file.
 * - `warning`: a message about a problem of more than one file.
 * - `notice`: a message that needs no attention, such as the end of an outage.
 * - `retrying`: a file will be sent again after a failure.
 * - `sent`: bytes of content sent since the last event of this kind.
 * - `expected`: how much will be sent, as far as is known beforehand.
 * - `confirming`: everything was sent, and the platform is being asked for the status of the files.
 * - `usage`: used and allowed amounts of the quotas, and what the run adds.
 * - `pass-began`, `pass-ended`: a full pass; `trigger` is `call` for `pass()` and `verify()`.
 * - `difference`, `verified`: a difference that a comparison found, and the result of the comparison.
 * - `refused`: the platform began to refuse requests that need credentials or room; `reason` is `null` when it accepts
 *   them again.
 * - `events-lost`, `watch-limited`, `found-by-rescan`: a daemon did not see all changes of a source.
 * - `renewals-overdue`: `count` files could not be renewed in time and will expire.
 * - `dropped`: `count` events were dropped here, because the reader was too slow.
 */
export type SyncEvent =
  | { readonly kind: 'file'; readonly file: FileEvent; readonly transferred?: Transferred }
  | { readonly kind: 'planned'; readonly file: FileEvent }
  | { readonly kind: 'warning' | 'notice'; readonly message: string }
  | {
      readonly kind: 'retrying';
      readonly path: string;
      readonly reason: string;
      readonly delayMs: number;
    }
  | { readonly kind: 'sent'; readonly bytes: number }
  | { readonly kind: 'expected'; readonly files: number; readonly bytes: number }
  | { readonly kind: 'confirming'; readonly words: string }
  | { readonly kind: 'usage'; readonly usages: Usages; readonly additions: Additions }
  | { readonly kind: 'pass-began'; readonly trigger: Trigger | 'call' }
  | {
      readonly kind: 'pass-ended';
      readonly trigger: Trigger | 'call';
      readonly summary: Summary;
      /** Only for a pass of a daemon; a call returns its outcome. */
      readonly outcome?: PassOutcome;
    }
  | { readonly kind: 'difference'; readonly difference: FileDifference }
  | { readonly kind: 'verified'; readonly verified: Verified }
  | { readonly kind: 'refused'; readonly what: Refusal; readonly reason: string | null }
  | { readonly kind: 'events-lost'; readonly source: string; readonly reason: string }
  | { readonly kind: 'watch-limited'; readonly source: string; readonly message: string }
  | { readonly kind: 'found-by-rescan'; readonly source: string }
  | { readonly kind: 'renewals-overdue'; readonly count: number }
  | { readonly kind: 'dropped'; readonly count: number };

/** Default capacity of the queue of a consumer. */
export const EVENTS_WAITING = 1_000;

/** Kinds of events that readers of `events()` do not receive. */
const INTERNAL = [
  'attempt-began',
  'attempt-progress',
  'attempt-ended',
  'counting',
  'waiting',
  'breaking-off',
  'started',
] as const;

type InternalEvent = Extract<RunEvent, { readonly kind: (typeof INTERNAL)[number] }>;

function isInternal(event: RunEvent): event is InternalEvent {
  return (INTERNAL as readonly string[]).includes(event.kind);
}

/** Returns what readers of `events()` receive for an event of a run; `null`: nothing. */
function syncEventOf(event: RunEvent): SyncEvent | null {
  if (isInternal(event)) return null;
  if (event.kind === 'file') {
    const { file, transferred } = event;
    return { kind: 'file', file, ...(transferred !== undefined && { transferred }) };
  }
  if (event.kind === 'halted') return { kind: 'file', file: haltAsFileEvent(event) };
  if (event.kind === 'call-began') return { kind: 'pass-began', trigger: 'call' };
  if (event.kind === 'call-ended')
    return { kind: 'pass-ended', trigger: 'call', summary: { ...event.summary } };
  if (event.kind === 'pass-ended') {
    const { trigger, summary, exitCode } = event;
    return { kind: 'pass-ended', trigger, summary: { ...summary }, outcome: passOutcomeOf(exitCode) };
  }
  return event;
}

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
