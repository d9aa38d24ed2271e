import { worstOf } from '../../domain/exit-code.ts';
import { emptySummary, type Summary } from '../../domain/report.ts';
import type { Overview, SincePass } from '../../domain/status.ts';

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
