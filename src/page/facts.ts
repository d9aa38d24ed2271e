import type { Known, Running, Standing } from '../sync/plan/standing.ts';
import type { HistoryBucket } from '../domain/history.ts';
import type { Style } from '../service/colour.ts';
import type { LogLevel } from '../service/log-line.ts';

/** Everything that the page of a daemon shows but for what a visitor asked. Times in epoch milliseconds. */
export interface PageFacts {
  readonly nowMs: number;
  /** Of botsync. */
  readonly version: string;
  /** The machine that it runs on. */
  readonly host: string;
  readonly pid: number;
  readonly startedAtMs: number;
  /** What follows every command that people are told to run: the options that name this configuration. */
  readonly commandEnd: string;
  /** Whether the platform is asked the status of the files. */
  readonly isAsked: boolean;
  readonly known: Known;
  readonly running: Running;
  readonly standing: Standing;
  readonly sources: readonly SourceFacts[];
  readonly transfers: Transfers;
  readonly requests: Requests;
  /** The last 24 hours by the minute, oldest first; minutes in which nothing was done are left out. */
  readonly history: readonly HistoryBucket[];
  readonly renewals: readonly Renewal[];
  /** The newest first. */
  readonly events: readonly PageEvent[];
  /** How much of the quotas is used, a line each; `null`: it is not known. */
  readonly usage: { readonly lines: readonly string[]; readonly askedAtMs: number } | null;
}

/** What a source is beside how it stands. */
export interface SourceFacts {
  readonly name: string;
  readonly directory: string;
  readonly botId: string;
  readonly keyPrefix: string;
  /** How its changes are noticed: by so many watched directories, or by looking every so many milliseconds. */
  readonly notices:
    | { readonly kind: 'watching'; readonly directories: number }
    | { readonly kind: 'polling'; readonly everyMs: number };
  /** Paths that it would remove from the platform, in path order, the first of them; only while it is halted. */
  readonly wouldRemove: readonly string[];
}

/** What is on its way. */
export interface Transfers {
  /** The largest first. */
  readonly inFlight: readonly Flight[];
  readonly bytesPerSecond: number;
  /** Until everything that is known of has been sent, milliseconds; `null`: it cannot be told. */
  readonly leftMs: number | null;
  /** So much of the first pass is done; `null`: it is over, or how much there is has not been counted yet. */
  readonly firstPass: {
    readonly files: number;
    readonly bytes: number;
    readonly ofFiles: number;
    readonly ofBytes: number;
  } | null;
}

/** A file on its way. */
export interface Flight {
  /** Its source and its path. */
  readonly name: string;
  readonly sizeBytes: number;
  readonly sentBytes: number;
  readonly forMs: number;
}

/** How requests leave. */
export interface Requests {
  readonly lastMinute: number;
  /** What the platform grants, requests a minute; `null`: it is not known. */
  readonly limit: number | null;
  /** How long the platform has asked us to wait from now, milliseconds; 0: it did not. */
  readonly pausedForMs: number;
  /** Our own limits, where the configuration has any. */
  readonly ownRequestsPerSecond: number | null;
  readonly ownBytesPerSecond: number | null;
}

/** A file that is renewed before it expires. */
export interface Renewal {
  readonly source: string;
  readonly path: string;
  readonly renewAtMs: number;
  readonly expiresAtMs: number;
}

/** A line of the log. */
export interface PageEvent {
  /** Which one it is: it goes up. */
  readonly id: number;
  readonly atMs: number;
  readonly level: LogLevel;
  readonly style: Style | null;
  readonly text: string;
}
