import type { Emit } from '../events.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Delivery } from '../../domain/notice.ts';
import type { Approved } from '../../domain/guard.ts';
import type { FileCatalog, FilePlatform } from '../../domain/file-catalog.ts';
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
import type { KeyLocks } from './key-locks.ts';
import { IndexWarnings, PatternWarnings } from '../plan/pattern-warnings.ts';
import type { StatusOutcome } from './note-status.ts';
import { Roots } from '../sources/directory-identity.ts';
import { Unsent } from './unsent.ts';
import type { Workers } from './workers.ts';

/** The settings under which files are synced: what a reload replaces. */
export interface SyncSettings {
  readonly config: Config;
  /** The name of the platform in records: its address, or a name that stays when the address changes. */
  readonly platformName: string;
  readonly platform: FilePlatform;
  /** `null`: the files on the platform are not queried. */
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

/** Settings that differ between a single pass and a daemon. */
export interface SyncMode {
  readonly waitLimits: WaitLimits;
  /** True if changes are handled as they happen. Passes then leave one transfer free for them. */
  readonly isWatched: boolean;
  readonly changeFeed: ChangeFeed;
  /** Called for each file whose status the platform has reported. */
  readonly onStatus?: (outcome: StatusOutcome) => void;
  /** Called when an outage is over. `hasParked`: some files did not wait for that. */
  readonly recovered?: (hasParked: boolean) => void;
  /** Returns whether a command has paused the service: then nothing new is sent, changed or removed. */
  readonly isPaused: () => boolean;
  /** Shared with the contexts of a daemon before and after a reload. */
  readonly keyLocks: KeyLocks;
  /** Running work is not waited for once it aborts, and continues on its own. */
  readonly detach: AbortSignal;
}

export interface SyncContextInput extends SyncSettings, SyncServices, SyncMode {}

/** The changes of sources that watches notice. */
export interface ChangeFeed {
  /** Returns whether the current patterns ignore a file: they may have changed since the walk began. */
  readonly ignores: (source: string, path: string) => boolean;
  /** Returns the time up to which all changes in a source have been rescanned, epoch milliseconds. */
  readonly seenUntilMs: (source: string) => number;
  /** Requests a rescan of a path whose last check may be outdated. */
  readonly rescan: (source: string, path: string) => void;
  /**
   * Requests a check of a whole source soon, because its directory or a file system below it changed during the walk.
   */
  readonly lookAgain: (source: string) => void;
}

/** For a single pass, which watches nothing. */
export const NO_CHANGE_FEED: ChangeFeed = {
  ignores: () => false,
  seenUntilMs: () => Infinity,
  rescan: () => undefined,
  lookAgain: () => undefined,
};

/** The longest waits, milliseconds: a single pass must end, a daemon has time. */
export interface WaitLimits {
  /** For an unreachable platform. */
  readonly outageMs: number;
  /** For a platform that asked for a pause. */
  readonly pauseMs: number;
  /** Between noticing that a file was deleted and removing it from the platform. */
  readonly removalMs: number;
}

/** Stages that must make progress while there is work: walks over sources, and files in progress. */
export interface Stages {
  readonly walk: Stage;
  readonly file: Stage;
}

export function unwatchedStages(): Stages {
  const pulse = new Pulse(() => 0);
  return { walk: pulse.stage('walk'), file: pulse.stage('file') };
}

/** Runs an exchange that sends content of the given size, once there is a place for it. */
export type Transfer = <T>(exchange: () => Promise<T>, sizeBytes: number) => Promise<T>;

/** The state of one full pass and the time until the next. */
export interface Round {
  /** The number of the pass that began it. */
  readonly pass: number;
  readonly blockade: Blockade;
  readonly unsent: Unsent;
  /** The platform's files at targets without records. */
  readonly listings: Listings;
  /** Sources of which a later rescan of a path could not see everything. */
  readonly unseen: Set<string>;
  /** Paths were rescanned since, so the pass may have read outdated records. */
  hadRescans: boolean;
}

/**
 * The result of the last walk over a source. `halted`: nothing is done for it; `incomplete`: a part could not be read.
 */
export type WalkState = 'halted' | 'incomplete' | 'complete';

/**
 * Shared by everything that is done under one configuration: passes, and rescans of single paths between and during them. Settings,
 * services, what is made of them, and the current round.
 */
export interface SyncContext extends Omit<SyncContextInput, 'catalog'> {
  /** `null`: the files on the platform are not queried. */
  readonly catalog: ServedCatalog | null;
  /** `null`: the status of sent files is not queried. */
  readonly confirmations: Confirmations | null;
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
  /** By source; absent before the first pass over it. */
  readonly walkStates: Map<string, WalkState>;
  round: Round;
  /** Ends everything at once, because the state file is unusable. */
  readonly fail: () => void;
}

/** For one walk, of a pass or a single path. `round` stays the one in which it began. */
export interface WalkContext extends SyncContext {
  readonly summary: Summary;
  readonly transfer: Transfer;
  /** Carry out what the walk finds. */
  readonly workers: Workers;
  /** Selects files by their paths in the source that are sent whatever the records say. */
  readonly isForced: (path: string) => boolean;
  /** Retry failed files that have not changed since. */
  readonly retriesFailed: boolean;
}

export interface PassContext extends WalkContext {
  readonly approved: (source: string) => Approved;
}

/**
 * Returns the platform's time for planning, epoch milliseconds. Before the first answer of the platform, it is
 * estimated from what earlier passes learned: if that makes a file due too early, the request that follows corrects it.
 */
export function planningTime({ platform, state, clock, beganAt }: PlanningInput): () => number {
  const aheadMs = state.platformAheadMs();
  return () => {
    if (platform.isTimeKnown()) return platform.now();
    // Our clock may have been set back since.
    const sinceBeganMs = Math.floor(clock.monotonic() - beganAt.monotonicMs);
    return Math.max(platform.now(), beganAt.wallMs + sinceBeganMs) + aheadMs;
  };
}

type PlanningInput = Pick<SyncContext, 'platform' | 'state' | 'clock' | 'beganAt'>;

/** Begins a round, with no known refusals by default. */
export function newRound(pass: number, blockade: Blockade): Round {
  return {
    pass,
    blockade,
    unsent: new Unsent(),
    listings: new Listings(),
    unseen: new Set(),
    hadRescans: false,
  };
}
