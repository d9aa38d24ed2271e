import type { FileEvent, Summary } from '../domain/report.ts';
import type { Additions, Usages } from '../domain/usage.ts';
import type { FileDifference } from '../sync/catalog/compare.ts';
import type { DaemonObserver, Refusal, Trigger } from '../sync/daemon/daemon-observer.ts';
import type { OutgoingFile, Reporter, Transferred, TransferWatch } from '../sync/pass/reporter.ts';
import type { Verified } from '../sync/plan/verify.ts';
import { EventQueue } from './event-queue.ts';
import type { ObservedDaemon, PassObserver, RunObserver, StartObserver, Waiting } from './observer.ts';
import { passOutcomeOf, type PassOutcome } from './pass-outcome.ts';

/**
 * Something that happened:
 * - `file`: something became of a file, or of a whole source (`path` is "." then); `transferred` is what sending it took.
 * - `planned`: what a pass would do with a file.
 * - `warning`: something that people should know and that is no file's event.
 * - `notice`: the same of something that asks nothing of them, such as the end of an outage.
 * - `retrying`: a file is about to be sent again, after a failure.
 * - `sent`: bytes of content that were sent since the last event of this kind.
 * - `expected`: how much will be sent, as far as is known beforehand.
 * - `confirming`: all was sent, and the platform is being asked what became of it.
 * - `usage`: what is used and allowed of the quotas, and what the run adds.
 * - `pass-began`, `pass-ended`: of a pass over everything; `trigger` is `call` for that of `pass()` and `verify()`.
 * - `difference`, `verified`: what a comparison found, and what it came to.
 * - `refused`: the platform began to refuse all that needs credentials, or room; `reason` is `null` once that is over.
 * - `events-lost`, `watch-limited`, `found-by-rescan`: how well a daemon sees changes in a source.
 * - `renewals-overdue`: `count` files could not be renewed in time and will expire.
 * - `dropped`: `count` events were dropped here, because nobody took them.
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
      /** Of a pass of a daemon; that of a call is in its result. */
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

/** How many events wait for a consumer, unless it is said otherwise. */
export const EVENTS_WAITING = 1_000;

/** Tells an observer, and whoever reads events, what the engine tells. */
export class EventFeed implements Reporter, PassObserver, StartObserver, DaemonObserver {
  readonly #observers: readonly RunObserver[];
  readonly #queues: Set<EventQueue>;
  #isClosed = false;

  constructor(observers: readonly RunObserver[], queues = new Set<EventQueue>()) {
    this.#observers = observers;
    this.#queues = queues;
  }

  /** The same for one run, which one more observer is told of. */
  also(observer: RunObserver): EventFeed {
    return new EventFeed([...this.#observers, observer], this.#queues);
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

  event(file: FileEvent, transferred?: Transferred, isKnown?: boolean): void {
    for (const one of this.#observers) one.event?.(file, transferred, isKnown);
    this.#push({ kind: 'file', file, ...(transferred !== undefined && { transferred }) });
  }

  sending(file: OutgoingFile): TransferWatch {
    const watches = this.#observers.flatMap((one) => one.sending?.(file) ?? []);
    return {
      progress: (bytes) => {
        for (const watch of watches) watch.progress(bytes);
      },
      ended: () => {
        for (const watch of watches) watch.ended();
      },
    };
  }

  planned(file: FileEvent): void {
    for (const one of this.#observers) one.planned?.(file);
    this.#push({ kind: 'planned', file });
  }

  warn(message: string): void {
    for (const one of this.#observers) one.warn?.(message);
    this.#push({ kind: 'warning', message });
  }

  inform(message: string): void {
    for (const one of this.#observers) one.inform?.(message);
    this.#push({ kind: 'notice', message });
  }

  retrying(path: string, reason: string, delayMs: number): void {
    for (const one of this.#observers) one.retrying?.(path, reason, delayMs);
    this.#push({ kind: 'retrying', path, reason, delayMs });
  }

  sent(bytes: number): void {
    for (const one of this.#observers) one.sent?.(bytes);
    this.#push({ kind: 'sent', bytes });
  }

  begin(counts: Readonly<Summary>): void {
    for (const one of this.#observers) one.begin?.(counts);
    this.#push({ kind: 'pass-began', trigger: 'call' });
  }

  waitsBy(waiting: () => Waiting): void {
    for (const one of this.#observers) one.waitsBy?.(waiting);
  }

  looking(files: number): void {
    for (const one of this.#observers) one.looking?.(files);
  }

  breakingOff(): void {
    for (const one of this.#observers) one.breakingOff?.();
  }

  started(daemon: ObservedDaemon): void {
    for (const one of this.#observers) one.started?.(daemon);
  }

  expect(files: number, bytes: number): void {
    for (const one of this.#observers) one.expect?.(files, bytes);
    this.#push({ kind: 'expected', files, bytes });
  }

  confirming(words: string): void {
    for (const one of this.#observers) one.confirming?.(words);
    this.#push({ kind: 'confirming', words });
  }

  usage(usages: Usages, additions: Additions): void {
    for (const one of this.#observers) one.usage?.(usages, additions);
    this.#push({ kind: 'usage', usages, additions });
  }

  end(summary: Summary, isDryRun: boolean, isCutShort: boolean): void {
    for (const one of this.#observers) one.end?.(summary, isDryRun, isCutShort);
    this.#push({ kind: 'pass-ended', trigger: 'call', summary: { ...summary } });
  }

  passBegan(trigger: Trigger): void {
    for (const one of this.#observers) one.passBegan?.(trigger);
    this.#push({ kind: 'pass-began', trigger });
  }

  passEnded(trigger: Trigger, sources: readonly string[], summary: Summary, exitCode: number): void {
    for (const one of this.#observers) one.passEnded?.(trigger, sources, summary, exitCode);
    const outcome = passOutcomeOf(exitCode);
    this.#push({ kind: 'pass-ended', trigger, summary: { ...summary }, outcome });
  }

  differenceFound(difference: FileDifference): void {
    for (const one of this.#observers) one.differenceFound?.(difference);
    this.#push({ kind: 'difference', difference });
  }

  verified(verified: Verified): void {
    for (const one of this.#observers) one.verified?.(verified);
    this.#push({ kind: 'verified', verified });
  }

  refused(what: Refusal, reason: string | null): void {
    for (const one of this.#observers) one.refused?.(what, reason);
    this.#push({ kind: 'refused', what, reason });
  }

  eventsLost(source: string, reason: string): void {
    for (const one of this.#observers) one.eventsLost?.(source, reason);
    this.#push({ kind: 'events-lost', source, reason });
  }

  watchLimited(source: string, message: string): void {
    for (const one of this.#observers) one.watchLimited?.(source, message);
    this.#push({ kind: 'watch-limited', source, message });
  }

  foundByRescan(source: string): void {
    for (const one of this.#observers) one.foundByRescan?.(source);
    this.#push({ kind: 'found-by-rescan', source });
  }

  renewalsOverdue(count: number): void {
    for (const one of this.#observers) one.renewalsOverdue?.(count);
    this.#push({ kind: 'renewals-overdue', count });
  }

  #push(event: SyncEvent): void {
    for (const queue of this.#queues) queue.push(event);
  }
}
