import type { ConfigProblem } from '../config/problem.ts';
import type { Summary } from '../domain/report.ts';
import type { Additions } from '../domain/usage.ts';
import type { Log } from '../service/logger.ts';
import type { ServiceManager } from '../service/systemd-notify.ts';
import type { UnmatchedPattern } from '../sync/plan/pattern-warnings.ts';
import type { Verified } from '../domain/status.ts';
import type { SyncEvent } from './events.ts';
import type { SyncObserver } from './observer.ts';
import type { PassOutcome } from './pass-outcome.ts';

/** The options of `openSync`. */
export interface OpenOptions {
  /** The configuration file; default: `botsync.config.json` in the working directory. */
  readonly config?: string;
  /** Runs against the emulator, inside this process, instead of the platform, with a state file of its own. */
  readonly emulator?: boolean;
  /** Contains secrets (`env:NAME`), `CREDENTIALS_DIRECTORY` and the proxy variables; default: `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
  /** Receives log lines, which are for people and contain no secrets; default: none are written. */
  readonly log?: Log;
  /**
   * Receives every event synchronously, without gaps; `events` never keeps the sync waiting instead. An error that it
   * throws ends the run, which rejects with that error.
   */
  readonly observer?: SyncObserver;
  /** Ends all runs, as `close` does. */
  readonly signal?: AbortSignal;
  /** Time that running work may continue after a stop before it is cut off, milliseconds; default: 10,000. */
  readonly graceMs?: number;
}

/** Options of every run. */
export interface RunOptions {
  /** Ends the run: nothing new begins, and running work has `graceMs` to end. */
  readonly signal?: AbortSignal;
}

/** Options of a pass. */
export interface PassOptions extends RunOptions {
  /** Selects files that are sent again whatever the records say, by path relative to the source. */
  readonly isForced?: (path: string) => boolean;
  /** Continues, this one time, where a guard would halt a source. */
  readonly allowRemovals?: boolean;
  /** Selects kept files that the pass removes from the platform; default: none. */
  readonly isPruned?: (file: KeptFile) => boolean;
  /**
   * Maximum wait at the end for the platform to report the status of the files, milliseconds; default: `confirm.wait`.
   */
  readonly waitMs?: number;
  /** Asks the platform for its quotas first, and reports to `usage` what the pass will add. */
  readonly usage?: boolean;
  /** Counts, during the pass, how much there is to send, and reports that to `expect`. */
  readonly estimate?: boolean;
  /** The advice about a halt in messages. */
  readonly howToApprove?: string;
}

/** A file on the platform that is no longer synced and was left there. */
export interface KeptFile {
  readonly source: string;
  /** Relative to the source. */
  readonly path: string;
  readonly key: string;
}

/** The result of a pass. */
export interface PassResult {
  readonly outcome: PassOutcome;
  readonly summary: Summary;
  /** True if every file was compared. */
  readonly sawAll: boolean;
}

/** Options of a plan. */
export interface PlanOptions extends RunOptions {
  /** As in `PassOptions`. */
  readonly isForced?: (path: string) => boolean;
  /** Asks the platform for its quotas, and reports to `usage` what a pass would add. */
  readonly usage?: boolean;
}

/** The result of a plan: what a pass would do. */
export interface PlanResult {
  readonly outcome: PassOutcome;
  /** Counts of what a pass would do. */
  readonly summary: Summary;
  /** The amounts that a pass would add to the used part of the quotas. */
  readonly additions: Additions;
  /** Patterns of the configuration that match no file. */
  readonly unmatched: readonly UnmatchedPattern[];
  /** Sources of which no pass could send anything: the platform refused the credentials, or does not know the bot. */
  readonly refused: readonly RefusedSource[];
}

/** A source for whose bot the platform refused requests. */
export interface RefusedSource {
  /** The name of the source. */
  readonly source: string;
  /** The answer of the platform. */
  readonly error: string;
  /** True if the platform does not know the bot; otherwise it refused the credentials. */
  readonly isUnknownBot: boolean;
}

/** Options of a comparison. */
export interface VerifyOptions extends RunOptions {
  /** Compares the contents as well. */
  readonly content?: boolean;
  /** Makes a pass that repairs what is missing, damaged or reported otherwise. */
  readonly repair?: boolean;
  /** Removes orphans: files that botsync sent, without a local file and without a record. */
  readonly prune?: boolean;
  /** Continues, this one time, where a guard would halt a source. */
  readonly allowRemovals?: boolean;
  /** Counts, during the pass of a repair, how much there is to send. */
  readonly estimate?: boolean;
}

/** The result of a comparison. */
export interface VerifyResult {
  readonly outcome: PassOutcome;
  readonly verified: Verified;
  /** The result of the pass of a repair; `null`: there was none. */
  readonly repaired: PassResult | null;
  /** The result for orphans; `null`: they were left alone. */
  readonly pruned: PruneResult | null;
}

/** The result of removing orphans. */
export interface PruneResult {
  readonly removed: number;
  /** Number of orphans that are still there. */
  readonly left: number;
  /** Sources whose guard kept orphans, and the reasons. */
  readonly halts: readonly { readonly source: string; readonly reason: string }[];
}

/** Options of a daemon. */
export interface DaemonOptions extends RunOptions {
  /** Is notified of the state of the daemon; default: no service manager. */
  readonly serviceManager?: ServiceManager;
  /**
   * Kills the process when a file system blocks its event loop for `service.hangTimeout`, so that it can be restarted.
   * Default: false, because the process may not belong to botsync.
   */
  readonly endWhenHung?: boolean;
  /** The advice about a halt in messages. */
  readonly howToApprove?: string;
  /** Counts, during the first pass, how much there is to send, and reports that to `expect`. */
  readonly estimate?: boolean;
  /** Called with each address on which it begins to serve HTTP, such as `127.0.0.1:9464`: see `service.listen`. */
  readonly listening?: (address: string) => void;
}

/** The result of a reload. */
export interface ReloadOutcome {
  /** Why the previous configuration is still in use; `null`: the one on disk is in use. */
  readonly problem: string | null;
}

/** A running daemon: it keeps everything in sync until it is stopped. */
export interface SyncDaemon extends AsyncDisposable {
  /** Resolves when the daemon has stopped and closed everything. Rejects with the error that ended it. */
  readonly stopped: Promise<void>;
  /** Stops the daemon in order. Resolves and rejects as `stopped` does. */
  stop(): Promise<void>;
  /**
   * Reloads configuration and secrets, and returns the result. What is wrong with them is also logged, and the daemon
   * continues as before.
   */
  reload(): Promise<ReloadOutcome>;
  /**
   * Approves the halt of a source, or of all sources, once. Returns which were approved, and which have a missing
   * directory.
   */
  approve(source?: string): { readonly approved: readonly string[]; readonly missing: readonly string[] };
  /** Reasons why the daemon is not ready; empty if it is. */
  readonly impediments: readonly string[];
  /** Returns what `botsync status --json` prints. */
  status(): unknown;
}

/**
 * An opened configuration and its operations. A process can open several, which share nothing. Operations that write
 * the state file (`pass`, `start`, and `verify` with `repair` or `prune`) need it exclusively: while another one runs,
 * in this process or any other, they reject with a `SyncError` of code `busy`.
 */
export interface Sync extends AsyncDisposable {
  /** The configuration file, as an absolute path. */
  readonly configFile: string;
  /** Warnings about the configuration: valid, but probably not intended. */
  readonly warnings: readonly ConfigProblem[];
  /**
   * Makes one full pass. Failures of single files are in the result; rejects with `SyncError` if no pass can be made.
   */
  pass(options?: PassOptions): Promise<PassResult>;
  /** Reports what a pass would do, each file as `planned`; sends and writes nothing. Rejects with `SyncError`. */
  plan(options?: PlanOptions): Promise<PlanResult>;
  /** Compares the files of the bots with what was sent. Rejects with `SyncError` if the platform cannot be asked. */
  verify(options?: VerifyOptions): Promise<VerifyResult>;
  /**
   * Starts a daemon: a full pass, then every change, until it is stopped. Reads the configuration again and follows its
   * changes. Resolves when the daemon is ready; rejects with `SyncError` if it cannot start.
   */
  start(options?: DaemonOptions): Promise<SyncDaemon>;
  /**
   * Iterates over the events of all runs from now on, until the sync is closed. The sync never waits for the reader: up
   * to `capacity` events are queued (default: 1,000); later ones are dropped and replaced by an event `dropped` with
   * their number. Leave the loop to stop queueing.
   */
  events(options?: { readonly capacity?: number }): AsyncIterableIterator<SyncEvent, undefined>;
  /** Stops all runs in order, and closes everything. Never rejects. */
  close(): Promise<void>;
}
