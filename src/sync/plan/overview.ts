import type { Config } from '../../config/config.ts';
import type { Summary } from '../../domain/report.ts';
import { targetOf } from '../sources/source.ts';
import type { Doings, Failure, ProblemCounts, SourceTally } from '../../state/overview-reader.ts';
import type { Verified } from './verify.ts';
import type { StateReader } from '../../state/state-reader.ts';

/** How one source stands. Moments are ISO 8601. */
export interface SourceStatus {
  readonly name: string;
  /** Why nothing is done for it. */
  readonly halted: string | null;
  /** What a halt keeps from being done, and how it is let through. */
  readonly haltAdvice: string | null;
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

/** A renewal is due some time before the file expires; so late it did not work, milliseconds. */
export const OVERDUE_AFTER_MS = 60_000;

/** More failures than anybody reads: there may be others where so many are named. */
export const MOST_FAILURES = 10_000;

/**
 * Sums up what the state file knows. What a source holds at another bot or identity than its present one, and what
 * sources hold that left the config, counts as kept: botsync leaves it alone.
 */
export function overview(state: StateReader, config: Config, platformName: string, nowMs: number): Overview {
  const platformNowMs = nowMs + state.platformAheadMs();
  const tallies = state.overview.tallies(platformNowMs);
  const problems = state.overview.problems();
  const targets = new Map(
    config.sources.map((source) => [source.name, state.targetId(targetOf(config, source, platformName))]),
  );
  const named = config.sources.map((source): SourceStatus => {
    const { name } = source;
    const target = targets.get(name);
    const own = tallies.filter((tally) => tally.source === name);
    const current = own.find((tally) => tally.target === target);
    const { refuse, problem, pending } = problems.get(name) ?? NO_PROBLEMS;
    const toRemove = config.removals.mode === 'keep' ? 0 : (current?.removalsDue ?? 0);
    return {
      name,
      ...haltOf(name, state),
      ...countsOf(current, target === undefined || state.remote.unserved(target, 'list') === null),
      failed: current?.failed ?? 0,
      sending: current?.sending ?? 0,
      refused: (current?.refused ?? 0) + refuse,
      problems: problem,
      pending,
      kept: (current?.left ?? 0) - toRemove + left(own.filter((tally) => tally !== current)),
      toRemove,
      nextExpiry: isoOrNull(current?.nextExpiryMs ?? null),
      expiring: state.renewals.countOverdue(target ?? -1, name, platformNowMs - OVERDUE_AFTER_MS),
    };
  });
  const gone = [...new Set(tallies.map(({ source }) => source))].filter((name) => !targets.has(name));
  const leftOver = gone.map((name): SourceStatus => {
    const kept = left(tallies.filter(({ source }) => source === name));
    return { ...EMPTY_SOURCE, name, kept };
  });
  const last = state.overview.lastPass();
  const verification = state.remote.verification();
  return {
    sources: [...named, ...leftOver],
    failures: state.overview
      .failures(targets, MOST_FAILURES, platformNowMs)
      .map(({ retryAtMs, ...failure }) => ({ ...failure, retryAt: isoOrNull(retryAtMs) })),
    lastPass: last && {
      finishedAt: new Date(last.finishedAtMs).toISOString(),
      exitCode: last.exitCode,
      summary: JSON.parse(last.summary) as Summary,
    },
    sinceLastPass: last && doneSince(last.finishedAtMs, state),
    lastVerification: verification && {
      finishedAt: new Date(verification.finishedAtMs).toISOString(),
      ...(JSON.parse(verification.summary) as Verified),
    },
  };
}

/** A source of which nothing is known. */
export const EMPTY_SOURCE: Omit<SourceStatus, 'name'> = {
  halted: null,
  haltAdvice: null,
  ...{ files: 0, bytes: 0, stored: 0, searchable: 0, unconfirmed: 0, unsearchable: 0 },
  ...{ failed: 0, sending: 0, refused: 0, problems: 0, pending: 0, kept: 0, toRemove: 0 },
  nextExpiry: null,
  expiring: 0,
};

const NO_PROBLEMS: ProblemCounts = { refuse: 0, problem: 0, pending: 0 };

/** Why a source is halted, and what was said to do about it. */
function haltOf(name: string, state: StateReader): Pick<SourceStatus, 'halted' | 'haltAdvice'> {
  const halted = state.source(name)?.halted ?? null;
  if (halted === null) return { halted, haltAdvice: null };
  const notice = state.overview.haltNotice(name) ?? '';
  const reason = `halted: ${halted}; `;
  return { halted, haltAdvice: notice.startsWith(reason) ? notice.slice(reason.length) : null };
}

function doneSince(sinceMs: number, state: StateReader): SincePass {
  const { lastMs, ...counts } = state.overview.since(sinceMs);
  return { ...counts, last: isoOrNull(lastMs) };
}

/**
 * What the platform has of a source.
 *
 * @param isAsked - whether it says what became of files; where it does not, what was sent counts as there.
 */
function countsOf(
  tally: SourceTally | undefined,
  isAsked: boolean,
): Pick<SourceStatus, 'files' | 'bytes' | 'stored' | 'searchable' | 'unconfirmed' | 'unsearchable'> {
  const { files = 0, bytes = 0, stored = 0, searchable = 0, unsearchable = 0 } = tally ?? {};
  const { unconfirmed = 0, unconfirmedBytes = 0 } = tally ?? {};
  const words = { stored, searchable, unconfirmed: isAsked ? unconfirmed : 0, unsearchable };
  if (isAsked) return { files, bytes, ...words };
  return { files: files + unconfirmed, bytes: bytes + unconfirmedBytes, ...words };
}

function left(tallies: readonly SourceTally[]): number {
  return tallies.reduce(
    (sum, tally) => sum + tally.files + tally.unconfirmed + tally.unsearchable + tally.left,
    0,
  );
}

function isoOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}
