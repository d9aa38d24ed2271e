import type { EventKind, Summary } from './report.ts';
import type { ClusterFacts, ClusterTrouble } from './cluster-status.ts';
import type { Halt } from './guard.ts';
import type { UpsertBody } from './limits.ts';
import type { Difference, Verdict } from './record.ts';

/** What was done since a moment, as far as it shows in the records of now. All times in epoch milliseconds. */
export interface Doings {
  /** Files whose content was sent, and their bytes. */
  readonly sent: number;
  readonly sentBytes: number;
  /** Files of which only other settings or another expiry were told. */
  readonly updated: number;
  readonly removed: number;
  /** Files that failed or were refused, and still are. */
  readonly failed: number;
  /** When the last of that was; `null`: there was nothing. */
  readonly lastMs: number | null;
}

/**
 * What brings another attempt:
 * - `pass`: the next pass over everything that tries again what failed.
 * - `change`: a change of the file or of its rules.
 * - `renewal`: as `pass`, and now and then before that, since it is to be renewed.
 * - `resend`: the moment that is on record; the platform lost it.
 * - `ask`: the platform is asked again what became of it, at the moment that is on record.
 * - `sending`: it is being sent, or was when botsync ended, and goes first then.
 */
export type RetryCause = 'pass' | 'change' | 'renewal' | 'resend' | 'ask' | 'sending';

/** A file that is not in sync. */
export interface Failure {
  readonly source: string;
  readonly path: string;
  readonly key: string | null;
  readonly kind: 'failed' | 'sending' | 'refused' | 'unsearchable' | 'refuse' | 'problem' | 'pending';
  readonly reason: string;
  readonly retry: RetryCause;
  /** The moment that is on record, epoch milliseconds; `null`: there is none. */
  readonly retryAtMs: number | null;
}

/** What a comparison came to. */
export interface Verified {
  /** Files on record that were compared. */
  compared: number;
  /** Of these, files that are there as they should be. */
  same: number;
  /** Files of the bot that are not ours. */
  foreign: number;
  /** Files that were being sent, or changed, in the meantime. */
  busy: number;
  /** Files whose content could not be read. */
  unread: number;
  readonly reasons: Partial<Record<DifferenceReason, number>>;
}

/**
 * How what the platform has differs from what was sent:
 * - `missing`: nothing is there.
 * - `size`, `content`: the content is another, though the file is ours.
 * - `failed`: the platform could not store or index it.
 * - `pending`: it has not been stored or indexed for a long time.
 * - `facts`: tags, metadata, policies, content type, index or expiry are others than it was told.
 * - `replaced`: somebody else put another file in its place.
 * - `unsent`: by the records already it is not there as it should be.
 * - `not-removed`: it was removed, and what was left in its place should have expired.
 * - `orphan`: it carries our mark, and is neither here nor on record, but perhaps as removed.
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
/** A halt, as somebody who approves it has to know it. */
export interface HaltStatus {
  readonly kind: Halt['kind'];
  /** Names the halt in its approval. */
  readonly digest: string;
  /** How many files are in question, as far as they are known. */
  readonly files: number;
  /** The first of their paths. */
  readonly first: readonly string[];
}

/** How one source stands. Moments are ISO 8601. */
export interface SourceStatus {
  readonly name: string;
  /** Why it is halted, a sentence. */
  readonly halted: string | null;
  readonly halt: HaltStatus | null;
  readonly files: number;
  readonly bytes: number;
  /** Of those: the platform says that it has the content, and nothing of a search. */
  readonly stored: number;
  /** Of those: the platform says that the bot can search them. */
  readonly searchable: number;
  /** Sent, while the platform has not said yet their status. */
  readonly unconfirmed: number;
  /** The platform has them, and could not index them: the bot does not find them. */
  readonly unsearchable: number;
  readonly failed: number;
  /** On their way for the first time since they changed; where no botsync runs, they were when it ended. */
  readonly sending: number;
  /** Refused, by the platform or before they were sent. */
  readonly refused: number;
  /** Files that could not be checked or read, or that may not be sent. */
  readonly problems: number;
  /** Files that changed and wait, since something stands in the way of them all. */
  readonly pending: number;
  /** No longer synced, and left alone on the platform. */
  readonly kept: number;
  /** Removed here, and to be removed on the platform. */
  readonly toRemove: number;
  readonly nextExpiry: string | null;
  /** Files that should have been sent again before they expire, and could not be. */
  readonly expiring: number;
  /** The host of a cluster that syncs it, unless it is this one; what is said of it that host said lately. */
  readonly syncedBy?: string;
}

/** A file that is not in sync, and what brings another attempt. */
export interface NotInSync extends Omit<Failure, 'retryAtMs'> {
  /** The moment of that, where it is on record; ISO 8601. */
  readonly retryAt: string | null;
}

/** What was done between passes, by single paths. */
export interface SincePass extends Omit<Doings, 'lastMs'> {
  /** When the last of that was, ISO 8601; `null`: there was nothing. */
  readonly last: string | null;
}

/** What the state file knows: the shape of `botsync status --json`. */
export interface Overview {
  readonly sources: readonly SourceStatus[];
  readonly failures: readonly NotInSync[];
  readonly lastPass: {
    readonly finishedAt: string;
    readonly exitCode: number;
    readonly summary: Summary;
  } | null;
  /** What was done since that pass ended; `null`: none has. */
  readonly sinceLastPass: SincePass | null;
  /** The last comparison of all that the bots have with what was sent. */
  readonly lastVerification: (Verified & { readonly finishedAt: string }) | null;
}

/** What a daemon is doing, as far as people ask. Moments are ISO 8601. */
export interface Doing {
  readonly activity: 'starting' | 'pass' | 'watching';
  /** Whether everything was looked at since the settings are new. */
  readonly isFirstPassOver: boolean;
  readonly watchedDirectories: number;
  /** Changed paths that wait to be rescanned. */
  readonly queued: number;
  /** Files on their way. */
  readonly sending: number;
  /** Since when, and when it is tried next (`null`: with the next change). `null`: the platform is in reach. */
  readonly outage: {
    readonly since: string;
    readonly nextTry: string | null;
    /** What the last failure was. */
    readonly reason: string;
  } | null;
  /** Why the platform refuses the credentials; `null`: it does not, as far as is known. */
  readonly refusal: string | null;
  /** Why the platform takes nothing that needs room; `null`: it does, as far as is known. */
  readonly shortage: string | null;
  /** When everything is looked at next; `null`: now. */
  readonly nextPass: string | null;
  /** When what failed is retried; `null`: now. */
  readonly failedAgain: string | null;
  /** When renewals that failed are retried. */
  readonly renewalsAgain: string | null;
}

/** A botsync that runs on the state file. A single pass says nothing of itself, and an older daemon says less. */
export interface Running extends Partial<Doing> {
  /** Why a daemon cannot use its state file; `null`: it can. */
  readonly trouble?: string | null;
  /** Only of a service. */
  readonly configuration?: ConfigurationInUse;
}

/**
 * When a file that is not in sync is retried:
 * - `now`: it is being tried.
 * - `change`: when it or its rules change.
 * - `halt`: when its source is not halted any more.
 * - `outage`: when the platform is in reach again, which is tried at the moment.
 * - `ask`: the platform is asked again what became of it, at the moment.
 * - `pass`: by a pass, at the moment; without one by the next that somebody makes.
 */
export type Retry = 'now' | 'change' | 'halt' | 'outage' | 'ask' | 'pass';

/** A file that is not in sync, and when it is retried. */
export interface Failing extends Omit<NotInSync, 'retry'> {
  readonly retry: Retry;
  /** ISO 8601; `null`: it is not known, or now. */
  readonly retryAt: string | null;
}

/** Everything that is known of how things stand: what `botsync status` is made of. */
export interface Known extends Omit<Overview, 'failures'> {
  readonly service: ServiceState;
  readonly failures: readonly Failing[];
  /** Only of a host that takes part in one. */
  readonly cluster?: ClusterFacts;
}

/** Files that are not in sync for the same reason, and are retried at the same time. */
export interface FailingGroup {
  readonly kind: 'files';
  readonly files: readonly Failing[];
}

/** Something that is not as it should be. What follows from another trouble is part of that. */
export type Trouble =
  /** A daemon cannot use its state file. */
  | { readonly kind: 'state-file'; readonly reason: string }
  /** The configuration on disk is wrong; the one that was loaded at the moment (ISO 8601) is in use. */
  | { readonly kind: 'configuration'; readonly problem: string; readonly loadedAt: string }
  /** `reason`: `null` where only the last pass knew it. `waiting`: files that this keeps from being sent. */
  | { readonly kind: 'credentials'; readonly reason: string | null; readonly waiting: number }
  | { readonly kind: 'quota'; readonly reason: string; readonly waiting: number }
  | ({ readonly kind: 'outage'; readonly waiting: number } & NonNullable<Doing['outage']>)
  | { readonly kind: 'halted'; readonly source: string }
  | { readonly kind: 'expiring'; readonly source: string }
  | FailingGroup
  | ClusterTrouble
  /** Not everything was looked at: no pass has ended, the last one was interrupted, or it left out so many files. */
  | { readonly kind: 'no-pass' | 'interrupted' }
  | { readonly kind: 'left-out'; readonly files: number };
/** How things stand. */
export interface Standing {
  readonly troubles: readonly Trouble[];
  /** What is being done, so that not everything is in sync yet; `null`: nothing. */
  readonly underWay: {
    /** Whether everything is being looked at, for the first time since botsync started. */
    readonly isLooking: boolean;
    /** Changed paths that wait. */
    readonly queued: number;
    /** Files whose content is on its way. */
    readonly sending: number;
  } | null;
  /** 0: everything is in sync, or is being indexed; 2: the configuration on disk is wrong; 3: not so, or the service does not run or answer; 4: credentials are refused; 5: a source or a unit is halted, or configured otherwise than in the ledger. */
  readonly exitCode: number;
}

/** The result of an approval, by the names of sources. */
export interface Approval {
  readonly approved: readonly string[];
  /** Their directory cannot be found: there is nothing to approve. */
  readonly missing: readonly string[];
  /** They are halted by something else than what was to be approved. */
  readonly changed: readonly string[];
}

/** The result of asking for a prune. */
export type AskedPrune =
  | { readonly kind: 'pruning'; readonly files: number }
  /** Nothing was done: other files are kept now than were listed, or no pass has come to the source. */
  | { readonly kind: 'changed' | 'unknown-source' | 'unseen' }
  | { readonly kind: 'halted'; readonly halt: Halt };

/** What comes of it when somebody wants a look now. */
export type AskedRescan =
  /** A pass over everything, which also tries again what failed. */
  | { readonly kind: 'pass' }
  /** A rescan of the path. `waitsFor`: what keeps it from being sent; `null`: nothing, as far as is known. */
  | { readonly kind: 'path'; readonly waitsFor: string | null }
  /** Nothing: there is no such source, it is no path within a source, or its file is ignored. */
  | { readonly kind: 'unknown-source' | 'outside' | 'ignored' }
  /** Nothing: a guard halts the source. */
  | { readonly kind: 'halted'; readonly halt: Halt };
/** Everything there is to say of one file. Moments are ISO 8601, sizes bytes. */
export interface Explanation {
  readonly source: string;
  readonly path: string;
  readonly key: string;
  readonly botId: string;
  /** The rules that matched, by their place in the config (from 0), with their patterns. */
  readonly rules: readonly { readonly rule: number; readonly match: readonly string[] }[];
  /** The body of the upsert that would be sent now; `null` when none can be. */
  readonly upsert: UpsertBody | null;
  /** What is remembered of it; `null`: nothing. */
  readonly record: {
    readonly state: string;
    readonly sha256: string | null;
    readonly expiresAt: string | null;
    readonly failure: string | null;
    readonly changedAt: string;
    /** What the platform says of it since it was sent. */
    readonly platform: PlatformWord;
    /** What the platform was found to have otherwise; `null`: nothing, as far as is known. */
    readonly differs: Difference | null;
  } | null;
  /** What a pass would do now. */
  readonly action: Exclude<EventKind, 'confirm'> | 'verify' | 'none' | 'keep';
  readonly reason: string;
}

/** What the platform says of a file. Moments are ISO 8601; `null`: there is none. */
export interface PlatformWord {
  /** What became of it for good; `null`: that is not known. */
  readonly verdict: Verdict | null;
  readonly sentAt: string | null;
  /** When it was asked last. */
  readonly askedAt: string | null;
  /** When it is asked next. */
  readonly nextAskAt: string | null;
}

/** Whether a service works with a state file. */
export type ServiceState =
  | { readonly kind: 'running' }
  /** It has the state file, and does not take questions yet, or no more. */
  | { readonly kind: 'starting' }
  /** It runs, and gives no answer. */
  | { readonly kind: 'silent'; readonly reason: string }
  /** `lastAlive`: when it was last known to run, ISO 8601. */
  | { readonly kind: 'stopped'; readonly lastAlive: string }
  /** Only single passes use the state file. */
  | { readonly kind: 'none' };

/** The configuration that a service works with. */
export interface ConfigurationInUse {
  /** An absolute path. */
  readonly file: string;
  /** ISO 8601. */
  readonly loadedAt: string;
  /** Why the one on disk cannot be loaded; `null`: it can, as far as is known. */
  readonly problem: string | null;
}
