import { describeHalt } from '../../words/halt.ts';
import { describeReason } from '../../words/obstacle.ts';
import type { Config } from '../../config/config.ts';
import { isOver, type Pause } from '../../domain/pause.ts';
import { haltDigest } from '../../domain/guard.ts';
import { type Summary, emptySummary } from '../../domain/report.ts';
import { targetOf } from '../sources/source.ts';
import type { ProblemCounts, SourceTally } from '../../store/overview-reader.ts';
import type { Verified, Overview, PauseStatus, SincePass, SourceStatus } from '../../domain/status.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { worstOf } from '../../domain/exit-code.ts';

/** A renewal this late has failed, milliseconds: it is due some time before the file expires. */
export const OVERDUE_AFTER_MS = 60_000;

/** The most failures that are listed: if there are so many, there may be others. */
export const MOST_FAILURES = 10_000;

/**
 * Sums up the state file. Files of a source at a former bot or identity, and of sources that left the config, count as
 * kept: botsync leaves them alone.
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
    const due = config.removals.mode === 'keep' ? current?.askedRemovalsDue : current?.removalsDue;
    const toRemove = due ?? 0;
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
      expiring: state.countOverdueRenewals(target ?? -1, name, platformNowMs - OVERDUE_AFTER_MS),
    };
  });
  const gone = [...new Set(tallies.map(({ source }) => source))].filter((name) => !targets.has(name));
  const leftOver = gone.map((name): SourceStatus => {
    const kept = left(tallies.filter(({ source }) => source === name));
    return { ...EMPTY_SOURCE, name, kept };
  });
  const last = state.overview.lastPass();
  const verification = state.remote.verification();
  const pause = state.pause();
  return {
    sources: [...named, ...leftOver],
    failures: state.overview
      .failures(targets, MOST_FAILURES, platformNowMs)
      .map(({ retryAtMs, ...failure }) => ({
        ...failure,
        reason: describeReason(failure.reason),
        retryAt: isoOrNull(retryAtMs),
      })),
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
    pause: pause === null || isOver(pause, nowMs) ? null : pauseStatusOf(pause),
  };
}

export function pauseStatusOf({ sinceMs, untilMs }: Pause): PauseStatus {
  return { since: new Date(sinceMs).toISOString(), until: isoOrNull(untilMs) };
}

/** A source without records. */
export const EMPTY_SOURCE: Omit<SourceStatus, 'name'> = {
  halted: null,
  halt: null,
  ...{ files: 0, bytes: 0, stored: 0, searchable: 0, unconfirmed: 0, unsearchable: 0 },
  ...{ failed: 0, sending: 0, refused: 0, problems: 0, pending: 0, kept: 0, toRemove: 0 },
  nextExpiry: null,
  expiring: 0,
};

const NO_PROBLEMS: ProblemCounts = { refuse: 0, problem: 0, pending: 0 };

function haltOf(name: string, state: StateReader): Pick<SourceStatus, 'halted' | 'halt'> {
  const halt = state.source(name)?.halt ?? null;
  if (halt === null) return { halted: null, halt: null };
  const { count: files, first } = halt.kind === 'missing' ? NOTHING_AT_STAKE : halt.atStake;
  return { halted: describeHalt(halt), halt: { kind: halt.kind, digest: haltDigest(halt), files, first } };
}

const NOTHING_AT_STAKE = { count: 0, first: [] };

function doneSince(sinceMs: number, state: StateReader): SincePass {
  const { lastMs, ...counts } = state.overview.since(sinceMs);
  return { ...counts, last: isoOrNull(lastMs) };
}

/**
 * Returns the counts of a source's files on the platform.
 *
 * @param isAsked - the platform reports the status of files; otherwise, sent files count as confirmed.
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

/** Merges the overviews of several state files into one. A last pass is shown only if every state file has one. */
export function mergeOverviews(all: readonly Overview[]): Overview {
  const [first] = all;
  if (first !== undefined && all.length === 1) return first;
  const passes = all.flatMap(({ lastPass }) => (lastPass === null ? [] : [lastPass]));
  const since = all.flatMap(({ sinceLastPass }) => (sinceLastPass === null ? [] : [sinceLastPass]));
  const verified = all.flatMap(({ lastVerification }) =>
    lastVerification === null ? [] : [lastVerification],
  );
  const isPassed = passes.length > 0 && passes.length === all.length;
  return {
    sources: all.flatMap(({ sources }) => sources),
    failures: all.flatMap(({ failures }) => failures),
    lastPass: isPassed
      ? {
          finishedAt: earliest(passes.map(({ finishedAt }) => finishedAt)),
          exitCode: worstOf(passes.map(({ exitCode }) => exitCode)),
          summary: passes.map(({ summary }) => summary).reduce(added, emptySummary()),
        }
      : null,
    sinceLastPass: isPassed ? since.reduce(addedSince, NOTHING_SINCE) : null,
    lastVerification:
      verified.length > 0 && verified.length === all.length
        ? (verified.sort((a, b) => (a.finishedAt < b.finishedAt ? -1 : 1))[0] ?? null)
        : null,
    // There is no pause in a cluster.
    pause: null,
  };
}

const NOTHING_SINCE: SincePass = { sent: 0, sentBytes: 0, updated: 0, removed: 0, failed: 0, last: null };

function earliest(moments: readonly string[]): string {
  return [...moments].sort()[0] ?? '';
}

/** Adds summaries. A summary of an older botsync may lack fields. */
function added(a: Summary, b: Partial<Summary>): Summary {
  const sum = { ...a };
  for (const name of Object.keys(sum) as (keyof Summary)[]) sum[name] += b[name] ?? 0;
  // The passes ran concurrently.
  return { ...sum, durationMs: Math.max(a.durationMs, b.durationMs ?? 0) };
}

function addedSince(a: SincePass, b: SincePass): SincePass {
  return {
    sent: a.sent + b.sent,
    sentBytes: a.sentBytes + b.sentBytes,
    updated: a.updated + b.updated,
    removed: a.removed + b.removed,
    failed: a.failed + b.failed,
    last:
      [a.last, b.last]
        .filter((moment) => moment !== null)
        .sort()
        .at(-1) ?? null,
  };
}
