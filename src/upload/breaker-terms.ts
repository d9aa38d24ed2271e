/** What an attempt says of the platform. */
export interface AttemptOutcome {
  /**
   * - `answer`: the platform and its store took it, or refused it for good: they are there.
   * - `unreachable`: no connection was made.
   * - `failure`: another failure that may be the platform's: a 5xx, a timeout, a lost connection.
   * - `own`: a failure that says nothing of the platform, such as 429 or a file that was written to in the meantime.
   * - `nothing`: the attempt did not get as far as the platform.
   */
  readonly met: 'answer' | 'unreachable' | 'failure' | 'own' | 'nothing';
  /** The platform asked for at least this much patience, milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** What went wrong, for people; `null`: nothing. */
  readonly retryReason?: string | null;
}

/** Since when the platform has been unreachable, and when it is tried next (`null`: with the next change); epoch milliseconds. */
export interface Outage {
  readonly sinceMs: number;
  readonly nextProbeMs: number | null;
  /** What the last failure was. */
  readonly reason: string;
}

/** How long what is waited for, and who is told. */
export interface BreakerOptions {
  /** An outage longer than this is waited for no more, milliseconds. */
  readonly longestOutageMs: number;
  /** In an outage longer than this nobody waits: what is due is told by `isProbeDue`, milliseconds. */
  readonly parkAfterMs: number;
  /** Told when an outage begins. */
  readonly opened: (reason: string) => void;
  /** Told when it is over. `hasParked`: some did not wait for it. */
  readonly closed: (hasParked: boolean) => void;
}

/** How much is done for an errand. */
export interface Terms {
  /** What it is about: the same for the same file. */
  readonly name: string;
  /** It may fail so often on its own account. */
  readonly attempts: number;
  /** A change of just now: during an outage it need not wait for the next probe that is due. */
  readonly isFresh: boolean;
  /** Asked during an outage: whether it waits for its turn to probe. */
  readonly waitsForOutage: () => boolean;
}
