import type { FileState, FileWord, SourceMeasures } from '../../service/metrics.ts';
import type { Overview, SourceStatus } from '../../sync/plan/overview.ts';

/** What metrics say of every source. `lastSuccessMs`: epoch milliseconds; `null`: nothing was in sync yet. */
export function measure(
  { sources }: Overview,
  watchedDirectories: ReadonlyMap<string, number>,
  lastSuccessMs: number | null,
): SourceMeasures[] {
  return sources.map(({ name, halted, nextExpiry, expiring, ...counts }) => ({
    name,
    files: statesOf(counts),
    words: wordsOf(counts),
    nextExpiryMs: nextExpiry === null ? null : Date.parse(nextExpiry),
    overdueRenewals: expiring,
    watchedDirectories: watchedDirectories.get(name) ?? 0,
    isHalted: halted !== null,
    lastSuccessMs,
  }));
}

type Counts = Omit<SourceStatus, 'name' | 'halted' | 'haltAdvice' | 'nextExpiry' | 'expiring'>;

function statesOf(counts: Counts): Record<FileState, number> {
  const { files, unconfirmed, unsearchable, sending, pending, failed, refused, problems } = counts;
  return {
    'in-sync': files,
    ...{ unconfirmed, unsearchable, sending, pending, failed, refused, problem: problems },
    'to-remove': counts.toRemove,
    kept: counts.kept,
  };
}

function wordsOf({ files, stored, searchable }: Counts): Record<FileWord, number> {
  return { stored, searchable, unknown: files - stored - searchable };
}
