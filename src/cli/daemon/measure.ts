import type { SourceMeasures } from '../../service/metrics.ts';
import type { Overview } from '../../sync/plan/overview.ts';

/** What metrics say of every source. `lastSuccessMs`: epoch milliseconds; `null`: nothing was in sync yet. */
export function measure(
  { sources }: Overview,
  watchedDirectories: ReadonlyMap<string, number>,
  lastSuccessMs: number | null,
): SourceMeasures[] {
  return sources.map(({ name, halted, files, failed, refused, kept, nextExpiry, expiring }) => ({
    name,
    files: { 'in-sync': files, failed, refused, kept },
    nextExpiryMs: nextExpiry === null ? null : Date.parse(nextExpiry),
    overdueRenewals: expiring,
    watchedDirectories: watchedDirectories.get(name) ?? 0,
    isHalted: halted !== null,
    lastSuccessMs,
  }));
}
