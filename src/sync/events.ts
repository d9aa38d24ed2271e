import type { Outage } from './pass/circuit-breaker.ts';
import type { Config } from '../config/config.ts';
import type { Halt } from '../domain/guard.ts';
import type { PlatformFailure } from '../domain/failure.ts';
import type { FileEvent, Summary, Transferred } from '../domain/report.ts';
import type { Activity, Verified } from '../domain/status.ts';
import type { Additions, Usages } from '../domain/usage.ts';
import type { FileDifference } from './catalog/compare.ts';

/**
 * Why a full pass is made:
 * - `start`, `reload`: the settings are new.
 * - `rescan`: at the regular interval, to find changes without an event.
 * - `lost`: there were too many changes to follow file by file.
 * - `root`: the directory of a source appeared, disappeared or was replaced.
 * - `ignore-file`: the patterns in the directory of a source changed.
 * - `approved`: a halt was approved.
 * - `asked`: a user asked for it, or a pause by a command is over.
 * - `recovered`: the platform is reachable again after an outage that files did not wait for.
 */
export type Trigger =
  'start' | 'reload' | 'rescan' | 'lost' | 'root' | 'ignore-file' | 'approved' | 'asked' | 'recovered';

/** Refusals that last until somebody fixes their cause: of the credentials, or of files that need more storage. */
export type Refusal = 'credentials' | 'quota';

/** One attempt to send the content of a file; each attempt has an object of its own. */
export interface OutgoingFile {
  readonly source: string;
  /** Relative to the source. */
  readonly path: string;
  readonly sizeBytes: number;
}

/** Why a pass sends nothing for a while. */
export interface Waiting {
  /** `null`: the platform is reachable. */
  readonly outage: Outage | null;
  /** For how long from now the platform has asked botsync to pause, milliseconds. */
  readonly pausedForMs: number;
  /** The pass gives up after an outage of this length, milliseconds. */
  readonly giveUpAfterMs: number;
}

/** The current activity of a daemon. */
export interface DaemonActivity extends Activity {
  readonly platformOutOfReach: boolean;
  /** Why the platform accepts nothing, or nothing that needs room; `null`: it accepts files. */
  readonly blocked: string | null;
}

/** The current state of a daemon. Each property is computed when it is read. */
export interface DaemonSituation {
  readonly activity: DaemonActivity;
  /** A source is halted, or the platform refuses something. */
  readonly isHindered: boolean;
  readonly unconfirmed: number;
  /** For how long from now the platform has asked botsync to pause, milliseconds. */
  readonly pausedForMs: number;
}

/** A daemon whose state can be read. */
export interface ObservedDaemon {
  /** The configuration in use; a reload replaces it. */
  readonly config: Config;
  /** `null` while it is starting, or cannot use its state file. */
  readonly situation: DaemonSituation | null;
}

/**
 * Something that happened in a run. Sizes are in bytes.
 * - `file`: a file was sent, changed, removed, confirmed, refused and so on. `transferred`: of a file whose content was sent;
 *   `isKnown`: an earlier pass reported the same.
 * - `halted`: a pass halted a source. `howToApprove`: the command that approves the halt.
 * - `planned`: what a pass would do with a file.
 * - `warning`: needs attention and is about no single file; `notice`: the same, but needs none.
 * - `retrying`: a file is about to be sent again, after a failure.
 * - `attempt-began`, `attempt-ended`: of one attempt to send a file; `attempt-progress`: bytes that the connection accepted.
 * - `sent`: bytes of content that were sent since the last event of this kind.
 * - `counting`: files checked so far to find out how much there is to send; `expected`: the result.
 * - `confirming`: everything was sent, and the platform is being asked for the status of the files.
 * - `usage`: used and allowed amounts of the quotas, and what the run adds.
 * - `call-began`, `call-ended`: of a pass that a command or a call of the library makes; `counts` change as it goes on, and
 *   `isCutShort` is set when some files were not even checked.
 * - `waiting`: `read` says from now on why nothing is sent for a while.
 * - `breaking-off`: running transfers are cut off, because they did not end in time after a stop.
 * - `started`: a daemon has opened its state file.
 * - `pass-began`, `pass-ended`: of a pass of a daemon.
 * - `events-lost`: a source had too many changes to follow file by file.
 * - `watch-limited`: some directories of a source cannot be watched; the message has the reason and the fix.
 * - `found-by-rescan`: a rescan found a change that had no event.
 * - `renewals-overdue`: files that could not be renewed in time and will expire.
 * - `refused`: the platform began to refuse requests of that kind; `reason` is `null` once it accepts them again.
 * - `difference`, `verified`: a difference that a comparison with the platform found, and the result of the comparison.
 */
export type RunEvent =
  | {
      readonly kind: 'file';
      readonly file: FileEvent;
      readonly transferred?: Transferred;
      /** The answer of the platform, if that is why the outcome is `failed`. */
      readonly failure?: PlatformFailure;
      readonly isKnown?: boolean;
    }
  | HaltEvent
  | { readonly kind: 'planned'; readonly file: FileEvent }
  | { readonly kind: 'warning' | 'notice'; readonly message: string }
  | {
      readonly kind: 'retrying';
      readonly path: string;
      readonly reason: string;
      readonly delayMs: number;
    }
  | { readonly kind: 'attempt-began' | 'attempt-ended'; readonly file: OutgoingFile }
  | { readonly kind: 'attempt-progress'; readonly file: OutgoingFile; readonly bytes: number }
  | { readonly kind: 'sent'; readonly bytes: number }
  | { readonly kind: 'counting'; readonly files: number }
  | { readonly kind: 'expected'; readonly files: number; readonly bytes: number }
  | { readonly kind: 'confirming'; readonly words: string }
  | { readonly kind: 'usage'; readonly usages: Usages; readonly additions: Additions }
  | { readonly kind: 'call-began'; readonly counts: Summary }
  | {
      readonly kind: 'call-ended';
      readonly summary: Summary;
      readonly isDryRun: boolean;
      readonly isCutShort: boolean;
    }
  | { readonly kind: 'waiting'; readonly read: () => Waiting }
  | { readonly kind: 'breaking-off' }
  | { readonly kind: 'started'; readonly daemon: ObservedDaemon }
  | { readonly kind: 'pass-began'; readonly trigger: Trigger }
  | {
      readonly kind: 'pass-ended';
      readonly trigger: Trigger;
      readonly sources: readonly string[];
      readonly summary: Summary;
      readonly exitCode: number;
    }
  | { readonly kind: 'events-lost'; readonly source: string; readonly reason: string }
  | { readonly kind: 'watch-limited'; readonly source: string; readonly message: string }
  | { readonly kind: 'found-by-rescan'; readonly source: string }
  | { readonly kind: 'renewals-overdue'; readonly count: number }
  | { readonly kind: 'refused'; readonly what: Refusal; readonly reason: string | null }
  | { readonly kind: 'difference'; readonly difference: FileDifference }
  | { readonly kind: 'verified'; readonly verified: Verified };

/** See `RunEvent`. */
export interface HaltEvent {
  readonly kind: 'halted';
  readonly source: string;
  readonly halt: Halt;
  readonly howToApprove: string;
  readonly isKnown: boolean;
}

/** Receives events as they happen, in order. It must return soon: the run waits for it. */
export type Emit = (event: RunEvent) => void;

/** Handlers by kind of event. */
export type EventHandlers = {
  readonly [K in RunEvent['kind']]?: (event: Extract<RunEvent, { readonly kind: K }>) => void;
};

/** Returns a listener that calls the handler for the kind of each event, if there is one. */
export function listener(handlers: EventHandlers): Emit {
  return (event) => {
    (handlers[event.kind] as Emit | undefined)?.(event);
  };
}
