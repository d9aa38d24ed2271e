import type { ConfigProblem } from '../config/problem.ts';
import type { Summary } from '../domain/report.ts';
import type { Additions } from '../domain/usage.ts';
import type { Log } from '../service/logger.ts';
import type { ServiceManager } from '../service/systemd-notify.ts';
import type { UnmatchedPattern } from '../sync/plan/unmatched-patterns.ts';
import type { Verified } from '../domain/status.ts';
import type { SyncEvent } from './events.ts';
import type { SyncObserver } from './observer.ts';
import type { PassOutcome } from './pass-outcome.ts';

/** What a sync is opened with. */
export interface OpenOptions {
  /** The configuration file; `botsync.config.json` in the working directory unless given. */
  readonly config?: string;
  /** Whether the emulator, inside this process, takes the place of the platform, with a state file of its own. */
  readonly emulator?: boolean;
  /** Where secrets (`env:NAME`), `CREDENTIALS_DIRECTORY` and the proxy variables are read; `process.env` unless given. */
  readonly env?: NodeJS.ProcessEnv;
  /** Takes log lines, which are for people and hold no secret; nobody unless given. */
  readonly log?: Log;
  /**
   * Receives everything at once, without a gap; see `events` for what never keeps the sync waiting. What it throws ends the
   * run, which rejects with that.
   */
  readonly observer?: SyncObserver;
  /** Ends whatever is running, as `close` does. */
  readonly signal?: AbortSignal;
  /** How long what is running may go on after a stop before it is broken off, milliseconds; ten seconds unless given. */
  readonly graceMs?: number;
}

/** What every run takes. */
export interface RunOptions {
  /** Ends the run: nothing new is begun, and what is running has `graceMs` to come to its end. */
  readonly signal?: AbortSignal;
}

/** What a pass takes. */
export interface PassOptions extends RunOptions {
  /** The files that are sent again whatever the records say, by their paths relative to their source. */
  readonly isForced?: (path: string) => boolean;
  /** Whether it goes ahead, this once, where a guard would halt a source. */
  readonly allowRemovals?: boolean;
  /** Which of the files that were kept on the platform it removes; none unless given. */
  readonly isPruned?: (file: KeptFile) => boolean;
  /** How long it waits at its end for the platform to say the status of the files, milliseconds; `confirm.wait` unless given. */
  readonly waitMs?: number;
  /** Whether the platform is asked for its quotas first; what the pass adds is told to `usage`. */
  readonly usage?: boolean;
  /** Whether it is counted, beside the pass, how much there is to send; that is told to `expect`. */
  readonly estimate?: boolean;
  /** What people are told to do about a halt. */
  readonly howToApprove?: string;
}

/** A file that is no longer synced and was left alone on the platform. */
export interface KeptFile {
  readonly source: string;
  /** Relative to the source. */
  readonly path: string;
  readonly key: string;
}

/** How a pass came out. */
export interface PassResult {
  readonly outcome: PassOutcome;
  readonly summary: Summary;
  /** Whether every file was checked. */
  readonly sawAll: boolean;
}

/** What a plan takes. */
export interface PlanOptions extends RunOptions {
  /** As in `PassOptions`. */
  readonly isForced?: (path: string) => boolean;
  /** Whether the platform is asked for its quotas; what a pass would add is told to `usage`. */
  readonly usage?: boolean;
}

/** What a pass would come to. */
export interface PlanResult {
  readonly outcome: PassOutcome;
  /** The counts of what would be done. */
  readonly summary: Summary;
  /** What would be taken of the platform's quotas. */
  readonly additions: Additions;
  /** Patterns of the configuration that match no file. */
  readonly unmatched: readonly UnmatchedPattern[];
  /** Sources that no pass could send anything of: the platform refused the credentials, or knows no such bot. */
  readonly refused: readonly RefusedSource[];
}

/** A source whose bot the platform refused to be asked about. */
export interface RefusedSource {
  /** Its name. */
  readonly source: string;
  /** The answer of the platform. */
  readonly error: string;
  /** Whether the platform knows no such bot; otherwise it refused the credentials. */
  readonly isUnknownBot: boolean;
}

/** What a comparison takes. */
export interface VerifyOptions extends RunOptions {
  /** Whether the contents are read as well. */
  readonly content?: boolean;
  /** Whether what is missing, damaged or told otherwise is repaired, by a pass. */
  readonly repair?: boolean;
  /** Whether files that botsync sent and that are neither here nor recorded are removed. */
  readonly prune?: boolean;
  /** Whether it goes ahead, this once, where a guard would halt a source. */
  readonly allowRemovals?: boolean;
  /** Whether it is counted, beside the pass of a repair, how much there is to send. */
  readonly estimate?: boolean;
}

/** What a comparison came to. */
export interface VerifyResult {
  readonly outcome: PassOutcome;
  readonly verified: Verified;
  /** How the pass of a repair came out; `null`: there was none. */
  readonly repaired: PassResult | null;
  /** What became of orphans; `null`: they were left alone. */
  readonly pruned: PruneResult | null;
}

/** What became of orphans. */
export interface PruneResult {
  readonly removed: number;
  /** How many are there still. */
  readonly left: number;
  /** The sources whose guard kept them, and why. */
  readonly halts: readonly { readonly source: string; readonly reason: string }[];
}

/** What a daemon takes. */
export interface DaemonOptions extends RunOptions {
  /** Receives the state of the daemon; without it no service manager is notified. */
  readonly serviceManager?: ServiceManager;
  /**
   * Whether the process is killed when a file system keeps its event loop from turning for `service.hangTimeout`, so that it
   * can be started again. Not unless given: the process may be somebody else's.
   */
  readonly endWhenHung?: boolean;
  /** What people are told to do about a halt. */
  readonly howToApprove?: string;
  /** Whether it is counted, beside the first pass, how much there is to send; that is told to `expect`. */
  readonly estimate?: boolean;
  /** Told each address at which it begins to answer over HTTP, such as `127.0.0.1:9464`: see `service.listen`. */
  readonly listening?: (address: string) => void;
}

/** What came of a reload. */
export interface ReloadOutcome {
  /** Why the configuration before is still in use; `null`: the one on disk is. */
  readonly problem: string | null;
}

/** A daemon at work: it keeps everything up to date until it is stopped. */
export interface SyncDaemon extends AsyncDisposable {
  /** Resolves when the daemon has stopped and let go of everything. Rejects with what it could not go on after. */
  readonly stopped: Promise<void>;
  /** Stops it in order. Resolves and rejects as `stopped` does. */
  stop(): Promise<void>;
  /**
   * Reads configuration and secrets again, and says what came of it. Where something is wrong with them, that goes to the log
   * as well, and the daemon goes on as before.
   */
  reload(): Promise<ReloadOutcome>;
  /** Lets a source that a guard halted, or all of them, go on once. Says which, and whose directories are missing. */
  approve(source?: string): { readonly approved: readonly string[]; readonly missing: readonly string[] };
  /** What keeps the daemon from being of full service now; empty when nothing does. */
  readonly impediments: readonly string[];
  /** How everything stands, as `botsync status --json` prints it. */
  status(): unknown;
}

/**
 * A configuration that is opened, and what can be done under it. Several can be open in one process, and share nothing.
 * What writes the state file (`pass`, `start`, and `verify` with `repair` or `prune`) needs it for itself: beside another,
 * in this process or any other, it rejects with a `SyncError` of code `busy`.
 */
export interface Sync extends AsyncDisposable {
  /** The configuration file, as an absolute path. */
  readonly configFile: string;
  /** What works in the configuration and is probably not meant. */
  readonly warnings: readonly ConfigProblem[];
  /** Makes one full pass. What fails for single files is in the result; rejects with `SyncError` when no pass can be made. */
  pass(options?: PassOptions): Promise<PassResult>;
  /** Tells what a pass would do; sends and writes nothing. Each file is told as `planned`. Rejects with `SyncError`. */
  plan(options?: PlanOptions): Promise<PlanResult>;
  /** Compares what the bots have with what they were sent. Rejects with `SyncError` when they cannot be asked. */
  verify(options?: VerifyOptions): Promise<VerifyResult>;
  /**
   * Starts a daemon: a full pass, then whatever changes, until it is stopped. It reads the configuration again, and follows
   * its changes. Resolves when it is up; rejects with `SyncError` when it cannot be.
   */
  start(options?: DaemonOptions): Promise<SyncDaemon>;
  /**
   * What happens from now on, under all runs. It ends when the sync is closed. The sync never waits for whoever reads this:
   * `capacity` events wait (1,000 unless given), what comes beyond that is dropped, and an event `dropped` says how many were,
   * in their place. Leave the loop to stop the gathering.
   */
  events(options?: { readonly capacity?: number }): AsyncIterableIterator<SyncEvent, undefined>;
  /** Stops what is running in order, and lets go of everything. Never rejects. */
  close(): Promise<void>;
}
