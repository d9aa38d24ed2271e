import type { Emit } from '../events.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Delivery } from '../../domain/notice.ts';
import type { Approved } from '../../domain/guard.ts';
import type { FileCatalog } from '../../domain/file-catalog.ts';
import type { FilePlatform } from '../../domain/file-platform.ts';
import type { Summary } from '../../domain/report.ts';
import { Pulse, type Stage } from '../../service/pulse.ts';
import type { Disk } from '../../files/disk.ts';
import type { StateStore } from '../../store/state-store.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { Blockade } from './blockade.ts';
import { Listings } from '../catalog/list-adoptable.ts';
import type { Confirmations } from './confirmations.ts';
import { ServedCatalog } from '../catalog/served-catalog.ts';
import { Claims } from '../plan/claims.ts';
import type { Flights } from './flights.ts';
import { IndexWarnings, PatternWarnings } from './pattern-warnings.ts';
import type { WordOutcome } from './note-word.ts';
import { Roots } from './roots.ts';
import { Unsent } from './unsent.ts';
import type { Workers } from './workers.ts';

/** The settings under which files are synced: what a reload replaces. */
export interface SyncSettings {
  readonly config: Config;
  /** The name of the platform in records: its address, or a name that stays when the address changes. */
  readonly platformName: string;
  readonly platform: FilePlatform;
  /** What the platform has; `null`: it is not asked. */
  readonly catalog: FileCatalog | null;
  /** Called after each upload of a new content, before the next action on that file. */
  readonly onDelivery?: (delivery: Delivery) => void;
}

/** Services that live as long as the run. */
export interface SyncServices {
  readonly state: StateStore;
  readonly clock: Clock;
  /** Returns a number in [0, 1): jitter. */
  readonly random: () => number;
  readonly emit: Emit;
  readonly stages: Stages;
  /** Looks files up; the file system unless given. */
  readonly disk?: Disk;
  /** The command that approves a halt, for messages. */
  readonly howToApprove: string;
  /** No new work once it aborts. */
  readonly stop: AbortSignal;
  /** Aborts running work. */
  readonly abort: AbortSignal;
}

/** How a single pass differs from a daemon. */
export interface SyncMode {
  readonly waitLimits: WaitLimits;
  /** Whether changes are noticed as they happen. Passes then leave one transfer free for them. */
  readonly isWatched: boolean;
  readonly changeFeed: ChangeFeed;
  /** Called for each file whose status the platform has reported. */
  readonly onWord?: (outcome: WordOutcome) => void;
  /** Called when an outage is over. `hasParked`: some files did not wait for that. */
  readonly recovered?: (hasParked: boolean) => void;
  /** Shared with the contexts of a daemon before and after a reload. */
  readonly flights: Flights;
  /** Running work is not waited for once it aborts, and continues on its own. */
  readonly detach: AbortSignal;
}

export interface SyncContextInput extends SyncSettings, SyncServices, SyncMode {}

/** What is known of the sources while they are watched. */
export interface ChangeFeed {
  /** Whether by the patterns of now a file is left out: they may have changed since its walk began. */
  readonly ignores: (source: string, path: string) => boolean;
  /** Everything that happened in the source until then has been rescanned, epoch milliseconds. */
  readonly seenUntilMs: (source: string) => number;
  /** Has a path rescanned: what was seen of it may have been out of date. */
  readonly rescan: (source: string, path: string) => void;
  /** Has a source looked at as a whole soon: its directory, or a file system below it, was not there as before when it was walked. */
  readonly lookAgain: (source: string) => void;
}

/** For a single pass: what it saw is all there is. */
export const NO_CHANGE_FEED: ChangeFeed = {
  ignores: () => false,
  seenUntilMs: () => Infinity,
  rescan: () => undefined,
  lookAgain: () => undefined,
};

/** How long is waited for what, milliseconds: a single pass has to end, a daemon has time. */
export interface WaitLimits {
  /** For a platform that is unreachable. */
  readonly outageMs: number;
  /** For a platform that asked for a pause. */
  readonly pauseMs: number;
  /** From noticing that a file was removed to removing it on the platform. */
  readonly removalMs: number;
}

/** What must not stand still while there is work: walks over sources, and files in hand. */
export interface Stages {
  readonly walk: Stage;
  readonly file: Stage;
}

/** Stages that nobody asks about. */
export function unwatchedStages(): Stages {
  const pulse = new Pulse(() => 0);
  return { walk: pulse.stage('walk'), file: pulse.stage('file') };
}

/** Runs an exchange that sends content of so many bytes when there is a place for it among those under way. */
export type Transfer = <T>(exchange: () => Promise<T>, sizeBytes: number) => Promise<T>;

/** What holds from one full pass to the next. */
export interface Round {
  /** The number of the pass that began it. */
  readonly pass: number;
  readonly blockade: Blockade;
  readonly unsent: Unsent;
  /** What the platform has at targets of which the pass found nothing on record. */
  readonly listings: Listings;
  /** Sources of which a rescan of a path since then could not see everything. */
  readonly unseen: Set<string>;
  /** Whether single paths were rescanned since: what the pass read of their records may be old. */
  hadRescans: boolean;
}

/** How the last walk left a source: `halted` is left alone, of `incomplete` something could not be seen. */
export type WalkState = 'halted' | 'incomplete' | 'complete';

/**
 * Shared by everything that is done under one configuration: passes, and rescans of single paths between and during them. Settings,
 * services, what is made of them, and the current round.
 */
export interface SyncContext extends Omit<SyncContextInput, 'catalog'> {
  /** What the platform has; `null`: it is not asked. */
  readonly catalog: ServedCatalog | null;
  /** What asks the platform the status of the files that were sent; `null`: nothing does. */
  readonly confirmations: Confirmations | null;
  /** When it was made, by either clock. */
  readonly beganAt: { readonly wallMs: number; readonly monotonicMs: number };
  readonly claims: Claims;
  readonly breaker: CircuitBreaker;
  readonly roots: Roots;
  readonly indexWarnings: IndexWarnings;
  readonly patternWarnings: PatternWarnings;
  /** For passes and whole directories. */
  readonly bulk: Transfer;
  /** For fresh changes. */
  readonly fresh: Transfer;
  /** By name; a source that no pass has come to yet has none. */
  readonly walkStates: Map<string, WalkState>;
  round: Round;
  /** Ends everything at once: the state file cannot be used any more. */
  readonly fail: () => void;
}

/** What one walk, of a pass or of a single path, works with; `round` stays the one that it began in. */
export interface WalkContext extends SyncContext {
  /** Counted up as it goes on. */
  readonly summary: Summary;
  readonly transfer: Transfer;
  /** Who carries out what it finds. */
  readonly workers: Workers;
  /** Files to send again whatever the records say, by their path in the source. */
  readonly isForced: (path: string) => boolean;
  /** Whether files that failed, and have not changed since, are retried. */
  readonly retriesFailed: boolean;
}

/** What one pass works with. */
export interface PassContext extends WalkContext {
  /** What somebody has approved for a source. */
  readonly approved: (source: string) => Approved;
}

/**
 * The platform's time to plan by, epoch milliseconds. A pass that has nothing to send is not told it, and goes by what earlier
 * passes were told: what that makes due too early costs a request, which tells better.
 */
export function planningTime({ platform, state, clock, beganAt }: PlanningInput): () => number {
  const aheadMs = state.platformAheadMs();
  return () => {
    if (platform.hasToldTime()) return platform.now();
    // Our clock may have been set back since.
    const sinceBeganMs = Math.floor(clock.monotonic() - beganAt.monotonicMs);
    return Math.max(platform.now(), beganAt.wallMs + sinceBeganMs) + aheadMs;
  };
}

type PlanningInput = Pick<SyncContext, 'platform' | 'state' | 'clock' | 'beganAt'>;

/** A round; unless told so, nothing is known to stand in the way. */
export function newRound(pass: number, blockade = new Blockade()): Round {
  return {
    pass,
    blockade,
    unsent: new Unsent(),
    listings: new Listings(),
    unseen: new Set(),
    hadRescans: false,
  };
}
