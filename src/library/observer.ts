import type { FileEvent, Summary } from '../domain/report.ts';
import type { Additions, Usages } from '../domain/usage.ts';
import type { DaemonObserver } from '../sync/daemon/daemon-observer.ts';
import type { Reporter } from '../sync/pass/reporter.ts';

/** Told of a pass, a plan or a comparison, beside what happens to each file. */
export interface PassObserver {
  /** A single pass begins; `counts` are what it has come to so far, and change as it goes on. */
  readonly begin: (counts: Readonly<Summary>) => void;
  /** So much is to be sent, as far as is known beforehand. Bytes. */
  readonly expect: (files: number, bytes: number) => void;
  /** All was sent, and the platform is being asked what became of it; in words how far that is. */
  readonly confirming: (words: string) => void;
  /** A single pass has ended. `isCutShort`: some files were not even looked at. */
  readonly end: (summary: Summary, isDryRun: boolean, isCutShort: boolean) => void;
  /** What a pass would do with one file. */
  readonly planned: (event: FileEvent) => void;
  /** What is used and allowed, and what the run adds, as far as is known beforehand. */
  readonly usage: (usages: Usages, additions: Additions) => void;
}

/** Told of everything as it happens, in order and without a gap. What it is told it must not keep waiting. */
export type SyncObserver = Partial<Reporter & PassObserver & DaemonObserver>;
