import type { FileEvent, Summary, Transferred } from '../domain/report.ts';
import type { Verified } from '../domain/status.ts';
import type { Additions, Usages } from '../domain/usage.ts';
import type { FileDifference } from '../sync/catalog/compare.ts';
import {
  listener,
  type Emit,
  type OutgoingFile,
  type Refusal,
  type Trigger,
  type Waiting,
} from '../sync/events.ts';
import { haltAsFileEvent } from '../words/halt.ts';

/** Follows one attempt to send a file. */
export interface TransferWatch {
  /** Bytes that the connection accepted since the last call. */
  readonly progress: (bytes: number) => void;
  /** The attempt has ended, with or without success. */
  readonly ended: () => void;
}

/** Receives what happens to files, as it happens. */
export interface Reporter {
  /** `transferred`: for a file whose content was sent. `isKnown`: an earlier pass reported the same. */
  readonly event: (event: FileEvent, transferred?: Transferred, isKnown?: boolean) => void;
  /** A warning that is not about a single file. */
  readonly warn: (message: string) => void;
  /** A message that needs no attention. */
  readonly inform?: (message: string) => void;
  /** A file will be sent again after a failure. */
  readonly retrying: (path: string, reason: string, delayMs: number) => void;
  /** Bytes of content that were sent. */
  readonly sent: (bytes: number) => void;
  /** An attempt to send a file begins. */
  readonly sending?: (file: OutgoingFile) => TransferWatch;
}

/** Follows a pass, a plan or a comparison, in addition to what happens to each file. */
export interface PassObserver {
  /** A single pass begins; `counts` is updated while it runs. */
  readonly begin: (counts: Readonly<Summary>) => void;
  /** Provides, until the pass ends, a function that returns why nothing is being sent. */
  readonly waitsBy: (waiting: () => Waiting) => void;
  /** The number of files checked so far to find out how much there is to send. */
  readonly looking: (files: number) => void;
  /** The files and bytes that will be sent, as far as is known beforehand. */
  readonly expect: (files: number, bytes: number) => void;
  /** Everything was sent, and the platform is being asked for the status of the files; `words`: the progress. */
  readonly confirming: (words: string) => void;
  /** Running transfers are cut off because they did not end in time after a stop. */
  readonly breakingOff: () => void;
  /** A single pass has ended. `isCutShort`: not every file was checked. */
  readonly end: (summary: Summary, isDryRun: boolean, isCutShort: boolean) => void;
  /** A pass would do this with one file. */
  readonly planned: (event: FileEvent) => void;
  /** Used and allowed amounts of the quotas, and what the run adds, as far as is known beforehand. */
  readonly usage: (usages: Usages, additions: Additions) => void;
}

/** Follows a daemon, in addition to what happens to each file. */
export interface DaemonObserver {
  readonly passBegan: (trigger: Trigger) => void;
  readonly passEnded: (
    trigger: Trigger,
    sources: readonly string[],
    summary: Summary,
    exitCode: number,
  ) => void;
  /** A source had too many changes to follow file by file. */
  readonly eventsLost: (source: string, reason: string) => void;
  /** Some directories of a source cannot be watched; the message has the reason and the fix. */
  readonly watchLimited: (source: string, message: string) => void;
  /** A rescan found a change that had no event. */
  readonly foundByRescan: (source: string) => void;
  /** The number of files that could not be renewed in time and will expire. */
  readonly renewalsOverdue: (count: number) => void;
  /** The platform began to refuse requests of that kind; `null`: it accepts them again. */
  readonly refused: (kind: Refusal, reason: string | null) => void;
  /** A comparison found a file that is not on the platform as it was sent. */
  readonly differenceFound: (difference: FileDifference) => void;
  /** A comparison with everything that the bots have is over. */
  readonly verified: (verified: Verified) => void;
}

/** Receives everything as it happens, in order and without a gap. Its methods must return soon: the sync waits for them. */
export type SyncObserver = Partial<Reporter & PassObserver & DaemonObserver>;

/** Returns a listener that calls the methods of an observer. */
export function listenerOf(observer: SyncObserver): Emit {
  const watches = new Map<OutgoingFile, TransferWatch>();
  return listener({
    file: ({ file, transferred, isKnown }) => observer.event?.(file, transferred, isKnown),
    halted: (event) => observer.event?.(haltAsFileEvent(event), undefined, event.isKnown),
    planned: ({ file }) => observer.planned?.(file),
    warning: ({ message }) => observer.warn?.(message),
    notice: ({ message }) => observer.inform?.(message),
    retrying: ({ path, reason, delayMs }) => observer.retrying?.(path, reason, delayMs),
    'attempt-began': ({ file }) => {
      const watch = observer.sending?.(file);
      if (watch !== undefined) watches.set(file, watch);
    },
    'attempt-progress': ({ file, bytes }) => watches.get(file)?.progress(bytes),
    'attempt-ended': ({ file }) => {
      watches.get(file)?.ended();
      watches.delete(file);
    },
    sent: ({ bytes }) => observer.sent?.(bytes),
    counting: ({ files }) => observer.looking?.(files),
    expected: ({ files, bytes }) => observer.expect?.(files, bytes),
    confirming: ({ words }) => observer.confirming?.(words),
    usage: ({ usages, additions }) => observer.usage?.(usages, additions),
    'call-began': ({ counts }) => observer.begin?.(counts),
    'call-ended': ({ summary, isDryRun, isCutShort }) => observer.end?.(summary, isDryRun, isCutShort),
    waiting: ({ read }) => observer.waitsBy?.(read),
    'breaking-off': () => observer.breakingOff?.(),
    'pass-began': ({ trigger }) => observer.passBegan?.(trigger),
    'pass-ended': ({ trigger, sources, summary, exitCode }) =>
      observer.passEnded?.(trigger, sources, summary, exitCode),
    'events-lost': ({ source, reason }) => observer.eventsLost?.(source, reason),
    'watch-limited': ({ source, message }) => observer.watchLimited?.(source, message),
    'found-by-rescan': ({ source }) => observer.foundByRescan?.(source),
    'renewals-overdue': ({ count }) => observer.renewalsOverdue?.(count),
    refused: ({ what, reason }) => observer.refused?.(what, reason),
    difference: ({ difference }) => observer.differenceFound?.(difference),
    verified: ({ verified }) => observer.verified?.(verified),
  });
}
