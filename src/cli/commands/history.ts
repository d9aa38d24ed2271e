import { formatDuration, readDuration } from '../../config/duration.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { HOURS_KEPT_MS, type HistoryBucket } from '../../domain/history.ts';
import { load } from '../../library/load.ts';
import { withStateFile } from '../../library/read-state-file.ts';
import { describeDoings } from '../../words/history.ts';
import type { GlobalOptions } from '../global-options.ts';
import { historyTable } from '../render/history-table.ts';
import { print } from '../render/output.ts';
import { printJson } from '../render/print-json.ts';
import { UsageError } from '../usage-error.ts';

/** Options of `botsync history`. */
export interface HistoryOptions extends GlobalOptions {
  /** A duration. */
  readonly since: string;
}

/** `botsync history`: what was done in the last hours or days, by the state file. Returns the exit code; throws `UsageError`. */
export async function history({ since, ...options }: HistoryOptions): Promise<number> {
  const { config } = load(options);
  const sinceMs = readSince(since);
  const nowMs = Date.now();
  await withStateFile(config.stateFile, ({ reader }) => {
    const buckets = reader.history.buckets(nowMs - sinceMs, nowMs + 1);
    if (options.json) for (const bucket of buckets) printJson(forPrograms(bucket));
    else print(forPeople(buckets, since, sinceMs).join('\n'));
  });
  return EXIT.ok;
}

function readSince(since: string): number {
  const reading = readDuration(since, HOURS_KEPT_MS);
  if (reading.kind === 'problem') throw new UsageError(`--since: ${reading.message}`);
  if (reading.value > HOURS_KEPT_MS)
    throw new UsageError(
      `--since: "${since}" is longer than anything is kept; write at most "${formatDuration(HOURS_KEPT_MS)}"`,
    );
  return reading.value;
}

function forPeople(buckets: readonly HistoryBucket[], since: string, sinceMs: number): string[] {
  const span = `the last ${since}`;
  if (buckets.length === 0) return [`Nothing is on record for ${span}.`];
  return [...historyTable(buckets, sinceMs), '', `In ${span}: ${describeDoings(buckets)}`];
}

function forPrograms({ startMs, spanMs, ...counts }: HistoryBucket): object {
  return { kind: 'history', start: new Date(startMs).toISOString(), seconds: spanMs / 1000, ...counts };
}
