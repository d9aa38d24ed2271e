import type { Config } from '../../config/config.ts';
import type { Summary } from '../../domain/report.ts';
import { targetOf } from '../sources/source.ts';
import type { Failure, SourceTally } from '../../state/overview-reader.ts';
import type { Verified } from './verify.ts';
import type { StateReader } from '../../state/state-reader.ts';

/** How one source stands. Moments are ISO 8601. */
export interface SourceStatus {
  readonly name: string;
  /** Why nothing is done for it. */
  readonly halted: string | null;
  readonly files: number;
  readonly bytes: number;
  /** Of those: the platform says that it has the content, and nothing of a search. */
  readonly stored: number;
  /** Of those: the platform says that the bot can search them. */
  readonly searchable: number;
  /** Sent, while the platform has not said yet what became of them. */
  readonly unconfirmed: number;
  /** The platform has them, and could not index them: the bot does not find them. */
  readonly unsearchable: number;
  readonly failed: number;
  readonly refused: number;
  readonly kept: number;
  readonly nextExpiry: string | null;
  /** Files that should have been sent again before they expire, and could not be. */
  readonly expiring: number;
}

/** What the state file knows: the shape of `botsync status --json`. */
export interface Overview {
  readonly sources: readonly SourceStatus[];
  readonly failures: readonly Failure[];
  readonly lastPass: {
    readonly finishedAt: string;
    readonly exitCode: number;
    readonly summary: Summary;
  } | null;
  /** The last comparison of all that the bots have with what was sent. */
  readonly lastVerification: (Verified & { readonly finishedAt: string }) | null;
}

/** A renewal is due some time before the file expires; so late it did not work, milliseconds. */
export const OVERDUE_AFTER_MS = 60_000;

/** More failures than anybody reads. */
const MOST_FAILURES = 10_000;

/**
 * Sums up what the state file knows. What a source holds at another bot or identity than its present one, and what
 * sources hold that left the config, counts as kept: botsync leaves it alone.
 */
export function overview(state: StateReader, config: Config, platformName: string, nowMs: number): Overview {
  const platformNowMs = nowMs + state.platformAheadMs();
  const tallies = state.overview.tallies(platformNowMs);
  const refusedHere = state.overview.refusedHere();
  const targets = new Map(
    config.sources.map((source) => [source.name, state.targetId(targetOf(config, source, platformName))]),
  );
  const named = config.sources.map((source): SourceStatus => {
    const target = targets.get(source.name);
    const own = tallies.filter((tally) => tally.source === source.name);
    const current = own.find((tally) => tally.target === target);
    return {
      name: source.name,
      halted: state.source(source.name)?.halted ?? null,
      ...countsOf(current, target === undefined || state.remote.unserved(target, 'list') === null),
      failed: current?.failed ?? 0,
      refused: (current?.refused ?? 0) + (refusedHere.get(source.name) ?? 0),
      kept: (current?.kept ?? 0) + left(own.filter((tally) => tally !== current)),
      nextExpiry: isoOrNull(current?.nextExpiryMs ?? null),
      expiring: state.countOverdue(target ?? -1, source.name, platformNowMs - OVERDUE_AFTER_MS),
    };
  });
  const gone = [...new Set(tallies.map(({ source }) => source))].filter((name) => !targets.has(name));
  const leftOver = gone.map((name): SourceStatus => {
    const kept = left(tallies.filter(({ source }) => source === name));
    return {
      name,
      halted: null,
      ...countsOf(undefined, true),
      failed: 0,
      refused: 0,
      kept,
      nextExpiry: null,
      expiring: 0,
    };
  });
  const last = state.overview.lastPass();
  const verification = state.remote.verification();
  return {
    sources: [...named, ...leftOver],
    failures: state.overview.failures(targets, MOST_FAILURES),
    lastPass: last && {
      finishedAt: new Date(last.finishedAtMs).toISOString(),
      exitCode: last.exitCode,
      summary: JSON.parse(last.summary) as Summary,
    },
    lastVerification: verification && {
      finishedAt: new Date(verification.finishedAtMs).toISOString(),
      ...(JSON.parse(verification.summary) as Verified),
    },
  };
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
    (sum, { files, unconfirmed, unsearchable, kept }) => sum + files + unconfirmed + unsearchable + kept,
    0,
  );
}

function isoOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}
