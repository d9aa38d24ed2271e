import type { Summary } from '../../domain/report.ts';
import type { FileDifference } from '../catalog/compare.ts';
import type { Verified } from '../plan/verify.ts';
import type { Doing } from '../plan/standing.ts';
import type { Blockade } from '../pass/blockade.ts';

/**
 * Why a pass over everything is made:
 * - `start`, `reload`: the settings are new.
 * - `rescan`: it is time, to find what no event told of.
 * - `lost`: more happened at a time than is followed file by file.
 * - `root`: a source's directory came, went or was replaced.
 * - `ignore-file`: the patterns in a source's directory changed.
 * - `approved`: someone checked what was halted.
 * - `asked`: someone wants it now.
 * - `recovered`: the platform is in reach again after an outage that files did not wait for.
 */
export type Trigger =
  'start' | 'reload' | 'rescan' | 'lost' | 'root' | 'ignore-file' | 'approved' | 'asked' | 'recovered';

/** What the platform refuses until somebody fixes it: requests with these credentials, or files that need more storage. */
export type Refusal = 'credentials' | 'quota';

/** Follows a daemon, in addition to what happens to each file. */
export interface DaemonObserver {
  readonly passBegan: (trigger: Trigger) => void;
  readonly passEnded: (
    trigger: Trigger,
    sources: readonly string[],
    summary: Summary,
    exitCode: number,
  ) => void;
  /** More happened in a source at a time than is followed file by file. */
  readonly eventsLost: (source: string, reason: string) => void;
  /** Some directories of a source cannot be watched; the message says why and what to do. */
  readonly watchLimited: (source: string, message: string) => void;
  /** A rescan found a change that no event had told of. */
  readonly foundByRescan: (source: string) => void;
  /** The number of files that could not be renewed in time and will expire. */
  readonly renewalsOverdue: (count: number) => void;
  /** The platform began to refuse, and everything of that kind waits; `null`: it takes it again. */
  readonly refused: (kind: Refusal, reason: string | null) => void;
  /** A comparison found a file on the platform otherwise than it was sent. */
  readonly differenceFound: (difference: FileDifference) => void;
  /** A comparison of all that the bots have is over. */
  readonly verified: (verified: Verified) => void;
}

/** What a daemon is doing now. */
export interface DaemonActivity extends Doing {
  readonly platformOutOfReach: boolean;
  /** Why the platform takes nothing, or nothing that needs room; `null` when it does. */
  readonly blocked: string | null;
}

/** Tells once when the platform begins to refuse everything of a kind, and once when it takes it again. */
export class RefusalNews {
  readonly #observer: DaemonObserver;
  readonly #told = new Set<Refusal>();

  constructor(observer: DaemonObserver) {
    this.#observer = observer;
  }

  /** What stands in the way now, as far as is known. */
  update({ refusal, shortage }: Pick<Blockade, 'refusal' | 'shortage'>): void {
    this.#update('credentials', refusal);
    this.#update('quota', shortage);
  }

  #update(kind: Refusal, reason: string | null): void {
    if (this.#told.has(kind) === (reason !== null)) return;
    if (reason === null) this.#told.delete(kind);
    else this.#told.add(kind);
    this.#observer.refused(kind, reason);
  }
}
