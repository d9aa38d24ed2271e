import type { EventKind, Summary } from './report.ts';
import type { ClusterFacts, ClusterTrouble } from './cluster-status.ts';
import type { Halt } from './guard.ts';
import type { UpsertBody } from './limits.ts';
import type { Obstacle } from './obstacle.ts';
import type { Difference, Verdict } from './record.ts';

/** The work since a moment, as far as current records show it. Times in epoch milliseconds. */
export interface Doings {
  /** Files whose content was sent, and their bytes. */
  readonly sent: number;
  readonly sentBytes: number;
  /** Files of which only settings or expiry were changed. */
  readonly updated: number;
  readonly removed: number;
  /** Files that failed or were refused, and still are. */
  readonly failed: number;
  /** When the last of this work was done; `null`: there was none. */
  readonly lastMs: number | null;
}

/**
 * The occasion of the next attempt:
 * - `pass`: the next full pass that retries failures.
 * - `change`: a change of the file or of its rules.
 * - `renewal`: as `pass`, and now and then before that, since a renewal is due.
 * - `resend`: at the recorded time; the platform lost the file.
 * - `ask`: at the recorded time the platform is asked again for the status.
 * - `sending`: the file is being sent; if botsync ended during that, it is sent first after the next start.
 */
export type RetryCause = 'pass' | 'change' | 'renewal' | 'resend' | 'ask' | 'sending';

export interface Failure {
  readonly source: string;
  readonly path: string;
  readonly key: string | null;
  readonly kind: 'failed' | 'sending' | 'refused' | 'unsearchable' | 'refuse' | 'problem' | 'pending';
  /** Recorded text, or the obstacle of a file without a record of it. */
  readonly reason: string | Obstacle;
  readonly retry: RetryCause;
  /** The recorded time, epoch milliseconds; `null`: none. */
  readonly retryAtMs: number | null;
}

/** The result of a comparison with the platform. */
export interface Verified {
  /** Compared files, of those recorded. */
  compared: number;
  /** Compared files that are as they should be. */
  same: number;
  /** Files of the bot that botsync did not send. */
  foreign: number;
  /** Files that were being sent, or changed, during the comparison. */
  busy: number;
  /** Files whose content could not be read. */
  unread: number;
  readonly reasons: Partial<Record<DifferenceReason, number>>;
}

/**
 * A difference between the platform's file and what was sent:
 * - `missing`: it does not exist.
 * - `size`, `content`: the file is ours, with other content.
 * - `failed`: the platform could not store or index it.
 * - `pending`: it has not been stored or indexed for a long time.
 * - `facts`: tags, metadata, policies, content type, index or expiry differ.
 * - `replaced`: somebody else put another file in its place.
 * - `unsent`: according to its record it is not in sync.
 * - `not-removed`: it was removed, and its replacement should have expired.
 * - `orphan`: it has botsync's mark, but there is no local file and no record, except perhaps one of its removal.
 */
export type DifferenceReason =
  | 'missing'
  | 'size'
  | 'content'
  | 'failed'
  | 'pending'
  | 'facts'
  | 'replaced'
  | 'unsent'
  | 'not-removed'
  | 'orphan';
/** A halt, with what its approval needs. */
export interface HaltStatus {
  readonly kind: Halt['kind'];
  /** Identifies the halt in its approval. */
  readonly digest: string;
  /** As far as known. */
  readonly files: number;
  /** The first of their paths. */
  readonly first: readonly string[];
}

/** The status of one source. Times are ISO 8601. */
export interface SourceStatus {
  readonly name: string;
  /** Why the source is halted, as a sentence. */
  readonly halted: string | null;
  readonly halt: HaltStatus | null;
  readonly files: number;
  readonly bytes: number;
  /** Files that the platform has, without search. */
  readonly stored: number;
  /** Files that the bot can search. */
  readonly searchable: number;
  /** Sent files whose status the platform has not confirmed yet. */
  readonly unconfirmed: number;
  /** Files that the platform has and could not index: the bot does not find them. */
  readonly unsearchable: number;
  readonly failed: number;
  /** Files that are being sent for the first time since they changed; if no botsync runs, they were when it ended. */
  readonly sending: number;
  /** Refused by the platform, or before they were sent. */
  readonly refused: number;
  /** Files that could not be checked or read, or that may not be sent. */
  readonly problems: number;
  /** Changed files that wait because of a problem that concerns all of them. */
  readonly pending: number;
  /** No longer synced, and kept on the platform. */
  readonly kept: number;
  /** Removed here, and still to be removed on the platform. */
  readonly toRemove: number;
  readonly nextExpiry: string | null;
  /** Files that should have been renewed before they expire, and could not be. */
  readonly expiring: number;
  /**
   * The host of a cluster that syncs the source, unless it is this one; then the other fields are from that host's last report.
   */
  readonly syncedBy?: string;
}

/** A file that is not in sync, and the occasion of the next attempt. */
export interface NotInSync extends Omit<Failure, 'retryAtMs' | 'reason'> {
  readonly reason: string;
  /** The recorded time of the next attempt; ISO 8601; `null`: none. */
  readonly retryAt: string | null;
}

/** Work on single paths between passes. */
export interface SincePass extends Omit<Doings, 'lastMs'> {
  /** When the last of this work was done, ISO 8601; `null`: there was none. */
  readonly last: string | null;
}

/** The content of the state file: the shape of `botsync status --json`. */
export interface Overview {
  readonly sources: readonly SourceStatus[];
  readonly failures: readonly NotInSync[];
  readonly lastPass: {
    readonly finishedAt: string;
    readonly exitCode: number;
    readonly summary: Summary;
  } | null;
  /** The work since the end of that pass; `null`: no pass has ended. */
  readonly sinceLastPass: SincePass | null;
  /** The last comparison of all files of the bots with what was sent. */
  readonly lastVerification: (Verified & { readonly finishedAt: string }) | null;
  /** The pause of the service by a command; `null`: none. */
  readonly pause: PauseStatus | null;
}

/** A pause of the service by a command. Times are ISO 8601. */
export interface PauseStatus {
  readonly since: string;
  /** `null`: until a command ends it. */
  readonly until: string | null;
}

/** Times are ISO 8601. */
export interface Activity {
  readonly activity: 'starting' | 'pass' | 'watching';
  /** A full pass has ended since the settings were loaded. */
  readonly isFirstPassOver: boolean;
  readonly watchedDirectories: number;
  readonly queued: number;
  readonly sending: number;
  /** `nextTry`: `null`: with the next change. `null`: the platform is reachable. */
  readonly outage: {
    readonly since: string;
    readonly nextTry: string | null;
    readonly reason: string;
  } | null;
  /** Why the platform refuses the credentials; `null`: it does not, as far as known. */
  readonly refusal: string | null;
  /** Why the platform accepts nothing that needs storage; `null`: it does, as far as known. */
  readonly shortage: string | null;
  readonly pause: PauseStatus | null;
  /** When the next full pass starts; `null`: now. */
  readonly nextPass: string | null;
  /** When failures are retried; `null`: now. */
  readonly failedAgain: string | null;
  /** When failed renewals are retried. */
  readonly renewalsAgain: string | null;
}

/** A botsync process that uses the state file. A single pass reports nothing about itself, and an older daemon reports less. */
export interface Running extends Partial<Activity> {
  /** Why a daemon cannot use its state file; `null`: it can. */
  readonly trouble?: string | null;
  /** Only for a service. */
  readonly configuration?: ConfigurationInUse;
}

/**
 * When a file that is not in sync is retried:
 * - `now`: at the moment.
 * - `change`: when the file or its rules change.
 * - `halt`: when its source is no longer halted.
 * - `resume`: when the pause by a command ends, at the given time or by another command.
 * - `outage`: when the platform is reachable again, which is tried at the given time.
 * - `ask`: at the given time the platform is asked again for the status.
 * - `pass`: by a pass at the given time; without a time by the next manual pass.
 */
export type Retry = 'now' | 'change' | 'halt' | 'resume' | 'outage' | 'ask' | 'pass';

export interface Failing extends Omit<NotInSync, 'retry'> {
  readonly retry: Retry;
  /** ISO 8601; `null`: unknown, or now. */
  readonly retryAt: string | null;
}

/** The data for `botsync status`. */
export interface Known extends Omit<Overview, 'failures'> {
  readonly service: ServiceState;
  readonly failures: readonly Failing[];
  /** Only for a host of a cluster. */
  readonly cluster?: ClusterFacts;
}

/** Files that are not in sync for the same reason, with the same time of their retry. */
export interface FailingGroup {
  readonly kind: 'files';
  readonly files: readonly Failing[];
}

/** The service is paused. `waiting`: changes that are held back. */
export interface PausedTrouble extends PauseStatus {
  readonly kind: 'paused';
  readonly waiting: number;
}

/** A problem. Its consequences are part of it and are not listed separately. */
export type Trouble =
  /** A daemon cannot use its state file. */
  | { readonly kind: 'state-file'; readonly reason: string }
  /** The configuration on disk is invalid; the one loaded at `loadedAt` (ISO 8601) is in use. */
  | { readonly kind: 'configuration'; readonly problem: string; readonly loadedAt: string }
  | PausedTrouble
  /** `reason`: `null` where only the last pass knew it. `waiting`: files that cannot be sent because of this. */
  | { readonly kind: 'credentials'; readonly reason: string | null; readonly waiting: number }
  | { readonly kind: 'quota'; readonly reason: string; readonly waiting: number }
  | ({ readonly kind: 'outage'; readonly waiting: number } & NonNullable<Activity['outage']>)
  | { readonly kind: 'halted'; readonly source: string }
  | { readonly kind: 'expiring'; readonly source: string }
  | FailingGroup
  | ClusterTrouble
  /** Not everything was checked: no pass has ended, the last one was interrupted, or it left out this many files. */
  | { readonly kind: 'no-pass' | 'interrupted' }
  | { readonly kind: 'left-out'; readonly files: number };
export interface Standing {
  readonly troubles: readonly Trouble[];
  /** Work in progress, so that not everything is in sync yet; `null`: none. */
  readonly underWay: {
    /** The first full pass since the start is in progress. */
    readonly isLooking: boolean;
    readonly queued: number;
    readonly sending: number;
  } | null;
  /**
   * 0: everything is in sync, or is being indexed; 2: the configuration on disk is invalid; 3: not in sync, or the service does
   * not run or answer; 4: credentials are refused; 5: a source or a unit is halted, or its configuration differs from the
   * ledger's.
   */
  readonly exitCode: number;
}

/** Results by names of sources. */
export interface Approval {
  readonly approved: readonly string[];
  /** Their directory is not found: there is nothing to approve. */
  readonly missing: readonly string[];
  /** They have another halt than the approved one. */
  readonly changed: readonly string[];
}

/** The result of a request for a pause. */
export interface AskedPause extends PauseStatus {
  /** When the first file expires that would be renewed without the pause, ISO 8601; `null`: none does before its end. */
  readonly expires: string | null;
}

export type AskedPrune =
  | { readonly kind: 'pruning'; readonly files: number }
  /** Nothing was done: the kept files differ from the list, or no pass has reached the source yet. */
  | { readonly kind: 'changed' | 'unknown-source' | 'unseen' }
  | { readonly kind: 'halted'; readonly halt: Halt };

/** The result of a request for a rescan. */
export type AskedRescan =
  /** A full pass, which also retries failures. */
  | { readonly kind: 'pass' }
  /** A rescan of the path. `waitsFor`: why it cannot be sent yet; `null`: no reason known. */
  | { readonly kind: 'path'; readonly waitsFor: string | null }
  /** Nothing: the source was not found, the path is not within a source, or its file is ignored. */
  | { readonly kind: 'unknown-source' | 'outside' | 'ignored' }
  /** Nothing: a guard halts the source. */
  | { readonly kind: 'halted'; readonly halt: Halt };
/** The data of `botsync explain` for one file. Times are ISO 8601, sizes bytes. */
export interface Explanation {
  readonly source: string;
  readonly path: string;
  readonly key: string;
  readonly botId: string;
  /** The rules that matched, by their position in the config (from 0), with their patterns. */
  readonly rules: readonly { readonly rule: number; readonly match: readonly string[] }[];
  /** The body of the upsert that would be sent now; `null`: none can be. */
  readonly upsert: UpsertBody | null;
  /** `null`: no record. */
  readonly record: {
    readonly state: string;
    readonly sha256: string | null;
    readonly expiresAt: string | null;
    readonly failure: string | null;
    readonly changedAt: string;
    /** The platform's status since the upload. */
    readonly platform: PlatformWord;
    /** The difference on the platform; `null`: none, as far as known. */
    readonly differs: Difference | null;
  } | null;
  readonly action: Exclude<EventKind, 'confirm'> | 'verify' | 'none' | 'keep';
  readonly reason: string;
  /** The way to get a refused file accepted; `null`: it is not refused, or the reason says so. */
  readonly fix: string | null;
}

/** Times are ISO 8601; `null`: none. */
export interface PlatformWord {
  /** The final status; `null`: unknown. */
  readonly verdict: Verdict | null;
  readonly sentAt: string | null;
  readonly askedAt: string | null;
  readonly nextAskAt: string | null;
}

export type ServiceState =
  | { readonly kind: 'running' }
  /** It holds the state file, and does not answer requests yet, or no longer. */
  | { readonly kind: 'starting' }
  /** It runs, and does not answer. */
  | { readonly kind: 'silent'; readonly reason: string }
  /** `lastAlive`: when it was last known to run, ISO 8601. */
  | { readonly kind: 'stopped'; readonly lastAlive: string }
  /** Only single passes use the state file. */
  | { readonly kind: 'none' };

export interface ConfigurationInUse {
  /** An absolute path. */
  readonly file: string;
  /** ISO 8601. */
  readonly loadedAt: string;
  /** Why the one on disk cannot be loaded; `null`: it can, as far as known. */
  readonly problem: string | null;
}

/**
 * The known state of a file on the platform:
 * - `searchable`, `stored`: confirmed by the platform; `sent`: not confirmed.
 * - `sending`, `failed`, `refused`: the last attempt to send it.
 * - `unsearchable`: it could not be indexed.
 * - `different`: not as it was sent; `replaced`: somebody else's file is in its place.
 * - `kept`: no longer synced, and left alone.
 * - `to-remove`: it will be removed; `removed`: an empty file that expires replaces it.
 * - `expired`: it has expired.
 * - `none`: the platform has nothing of it.
 */
export type PlatformState =
  | 'searchable'
  | 'stored'
  | 'sent'
  | 'sending'
  | 'failed'
  | 'refused'
  | 'unsearchable'
  | 'different'
  | 'replaced'
  | 'kept'
  | 'to-remove'
  | 'removed'
  | 'expired'
  | 'none';

/** Groups of files, as a status counts them. `gone`: removed from the platform or expired there. */
export const FILE_GROUPS = [
  'in-sync',
  'unconfirmed',
  'sending',
  'waiting',
  'failed',
  'refused',
  'problem',
  'unsearchable',
  'to-remove',
  'kept',
  'gone',
] as const;

export type FileGroup = (typeof FILE_GROUPS)[number];
