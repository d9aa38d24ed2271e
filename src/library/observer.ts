import type { FileEvent, Summary } from '../domain/report.ts';
import type { Additions, Usages } from '../domain/usage.ts';
import type { Config } from '../config/config.ts';
import type { DaemonActivity, DaemonObserver } from '../sync/daemon/daemon-observer.ts';
import type { Outage } from '../upload/breaker-terms.ts';
import type { Reporter } from '../sync/pass/reporter.ts';

/** Why a pass sends nothing for a while. */
export interface Waiting {
  /** `null`: the platform can be reached. */
  readonly outage: Outage | null;
  /** How long the platform has asked us to wait from now, milliseconds. */
  readonly pausedForMs: number;
  /** An outage is waited for so long, milliseconds. */
  readonly giveUpAfterMs: number;
}

/** What a daemon is doing now, for those who watch it; each property is found out when it is asked for. */
export interface DaemonSituation {
  readonly activity: DaemonActivity;
  /** Whether a source is halted or the platform refuses something. */
  readonly isHindered: boolean;
  readonly unconfirmed: number;
  /** How long the platform has asked us to wait from now, milliseconds. */
  readonly pausedForMs: number;
}

/** A daemon that is there to be asked. */
export interface ObservedDaemon {
  /** What is in force now; another one after a reload. */
  readonly config: Config;
  /** `null` while it is starting, or cannot use its state file. */
  readonly situation: DaemonSituation | null;
}

/** Follows a pass, a plan or a comparison, in addition to what happens to each file. */
export interface PassObserver {
  /** A single pass begins; `counts` are what it has come to so far, and change as it goes on. */
  readonly begin: (counts: Readonly<Summary>) => void;
  /** Why nothing is sent for a while can be asked from now on, for as long as the pass goes on. */
  readonly waitsBy: (waiting: () => Waiting) => void;
  /** The number of files checked so far, to find out how much there is to send. */
  readonly looking: (files: number) => void;
  /** How much will be sent, as far as is known beforehand; sizes in bytes. */
  readonly expect: (files: number, bytes: number) => void;
  /** All was sent, and the platform is being asked what became of it; in words how far that is. */
  readonly confirming: (words: string) => void;
  /** What is running is broken off, because it did not end in time after a stop. */
  readonly breakingOff: () => void;
  /** A single pass has ended. `isCutShort`: some files were not even checked. */
  readonly end: (summary: Summary, isDryRun: boolean, isCutShort: boolean) => void;
  /** What a pass would do with one file. */
  readonly planned: (event: FileEvent) => void;
  /** What is used and allowed, and what the run adds, as far as is known beforehand. */
  readonly usage: (usages: Usages, additions: Additions) => void;
}

/** Follows the run of a daemon as a whole. */
export interface StartObserver {
  /** The daemon has its state file to itself and begins; it can be asked from now on. */
  readonly started: (daemon: ObservedDaemon) => void;
}

/** Receives everything as it happens, in order and without a gap. Its methods have to return soon: the sync waits for them. */
export type SyncObserver = Partial<Reporter & PassObserver & DaemonObserver>;

/** A `SyncObserver` that asks a daemon how it stands as well. */
export type RunObserver = SyncObserver & Partial<StartObserver>;
