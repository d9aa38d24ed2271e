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
      files: current?.files ?? 0,
      bytes: current?.bytes ?? 0,
      failed: current?.failed ?? 0,
      refused: (current?.refused ?? 0) + (refusedHere.get(source.name) ?? 0),
      kept: (current?.kept ?? 0) + left(own.filter((tally) => tally !== current)),
      nextExpiry: isoOrNull(current?.nextExpiryMs ?? null),
      expiring: state.countOverdue(target ?? 0, source.name, platformNowMs - OVERDUE_AFTER_MS),
    };
  });
  const gone = [...new Set(tallies.map(({ source }) => source))].filter((name) => !targets.has(name));
  const leftOver = gone.map((name): SourceStatus => {
    const kept = left(tallies.filter(({ source }) => source === name));
    return {
      name,
      halted: null,
      files: 0,
      bytes: 0,
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

function left(tallies: readonly SourceTally[]): number {
  return tallies.reduce((sum, { files, kept }) => sum + files + kept, 0);
}

function isoOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}
