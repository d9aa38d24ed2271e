import { formatDuration, readDuration } from '../../config/duration.ts';
import { EXIT } from '../../domain/exit-code.ts';
import {
  HOUR_MS,
  byRow,
  HOURS_KEPT_MS,
  startOf,
  MINUTE_MS,
  type HistoryBucket,
} from '../../domain/history.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { load } from '../../run/run-base.ts';
import { EVENTS_KEPT_MS } from '../../store/file-log.ts';
import { showFileHistory } from './file-history.ts';
import { withStateFile } from '../../run/read-state-file.ts';
import { describeDoings } from '../../words/history.ts';
import type { GlobalOptions } from '../global-options.ts';
import { printNoService } from '../command-daemon.ts';
import { print, printJson } from '../render/output.ts';
import { demand, UsageError } from '../usage-error.ts';
import { bytesText } from '../../service/amounts.ts';
import { renderTable } from '../render/text-layout.ts';

export interface HistoryOptions extends GlobalOptions {
  /** A file of a source. */
  readonly path: string | undefined;
  /** A duration. */
  readonly since: string | undefined;
}

/**
 * `botsync history`: counts of the last hours or days, or the events of one file, from the state file. Returns the
 * exit code; throws `UsageError`.
 */
export async function history({ path, since, ...options }: HistoryOptions): Promise<number> {
  const loaded = load(options);
  const span = since ?? (path === undefined ? '24h' : formatDuration(EVENTS_KEPT_MS));
  const spanMs = readSince(span);
  if (path === undefined) await showCounts(loaded, options, span, spanMs);
  else await showFileHistory(loaded, options, { path, span, spanMs });
  return EXIT.ok;
}

async function showCounts(
  { config }: LoadedConfig,
  { json }: GlobalOptions,
  span: string,
  spanMs: number,
): Promise<void> {
  const nowMs = Date.now();
  await withStateFile(config.stateFile, ({ reader, holder }) => {
    const buckets = reader.history.buckets(nowMs - spanMs, nowMs + 1);
    if (json) for (const bucket of buckets) printJson(forPrograms(bucket));
    else {
      print(forPeople(buckets, span, spanMs).join('\n'));
      printNoService(holder, reader);
    }
  });
}

function readSince(since: string): number {
  const sinceMs = demand('--since', readDuration(since, HOURS_KEPT_MS));
  if (sinceMs > HOURS_KEPT_MS)
    throw new UsageError(
      `--since: "${since}" is longer than anything is kept; write at most "${formatDuration(HOURS_KEPT_MS)}"`,
    );
  return sinceMs;
}

function forPeople(buckets: readonly HistoryBucket[], since: string, sinceMs: number): string[] {
  const span = `the last ${since}`;
  if (buckets.length === 0) return [`Nothing is on record for ${span}.`];
  return [...historyTable(buckets, sinceMs), '', `In ${span}: ${describeDoings(buckets)}`];
}

function forPrograms({ startMs, spanMs, ...counts }: HistoryBucket): object {
  return { kind: 'history', start: new Date(startMs).toISOString(), seconds: spanMs / 1000, ...counts };
}

/** The time that a row covers. */
type Step = 'minute' | 'hour' | 'day';

/** Rows are minutes up to this span, and hours up to the next, in milliseconds. */
const MINUTES_UP_TO_MS = 2 * HOUR_MS;
const HOURS_UP_TO_MS = 48 * HOUR_MS;

interface Column {
  readonly head: string;
  readonly cell: (row: HistoryBucket) => string;
  /** The column is omitted if all its cells are empty. */
  readonly isOptional: boolean;
}

const COLUMNS: readonly Column[] = [
  { head: 'Sent', cell: ({ sentFiles }) => countOf(sentFiles), isOptional: false },
  { head: 'Size', cell: (row) => (row.sentFiles > 0 ? bytesText(row.sentBytes) : ''), isOptional: false },
  { head: 'Updated', cell: ({ updated, adopted }) => countOf(updated + adopted), isOptional: true },
  { head: 'Removed', cell: ({ removed }) => countOf(removed), isOptional: true },
  { head: 'Failed', cell: ({ failed, refused }) => countOf(failed + refused), isOptional: false },
  { head: 'Requests', cell: ({ requests }) => countOf(requests), isOptional: false },
  { head: '429', cell: ({ throttled }) => countOf(throttled), isOptional: true },
];

/** Returns a table in local time, of minutes, hours or days, depending on the span. A gap becomes one row "…". */
export function historyTable(buckets: readonly HistoryBucket[], sinceMs: number): string[] {
  const step = stepOf(sinceMs);
  const rows = byRow(buckets, (momentMs) => rowOf(momentMs, step));
  const columns = COLUMNS.filter(
    ({ cell, isOptional }) => !isOptional || rows.some((row) => cell(row) !== ''),
  );
  const lines = rows.flatMap((row, nth) => {
    const line = [timeOf(row.startMs, step), ...columns.map(({ cell }) => cell(row))];
    const before = rows[nth - 1];
    const isNext = before === undefined || nextRow(before.startMs, step) === row.startMs;
    return isNext ? [line] : [['…', ...columns.map(() => '')], line];
  });
  const head = [step === 'day' ? 'Day' : 'Time', ...columns.map((column) => column.head)];
  return renderTable(
    head,
    lines,
    columns.map((_, nth) => nth + 1),
  );
}

function stepOf(sinceMs: number): Step {
  if (sinceMs <= MINUTES_UP_TO_MS) return 'minute';
  return sinceMs <= HOURS_UP_TO_MS ? 'hour' : 'day';
}

/** Returns the start of the minute, the local hour or the local day of a moment. */
function rowOf(momentMs: number, step: Step): number {
  if (step === 'minute') return startOf(momentMs, MINUTE_MS);
  const moment = new Date(momentMs);
  // Subtract minutes: an hour that the clock shows twice is two hours.
  const hourMs = momentMs - moment.getMinutes() * MINUTE_MS - (momentMs % MINUTE_MS);
  return step === 'hour' ? hourMs : moment.setHours(0, 0, 0, 0);
}

function nextRow(startMs: number, step: Step): number {
  switch (step) {
    case 'minute':
      return startMs + MINUTE_MS;
    case 'hour':
      return startMs + HOUR_MS;
    case 'day': {
      const day = new Date(startMs);
      return day.setDate(day.getDate() + 1);
    }
  }
}

/** "Nov 22 13:00", or for a day "Sun Nov 22". */
function timeOf(startMs: number, step: Step): string {
  const [weekday = '', month = '', day = ''] = new Date(startMs).toDateString().split(' ');
  if (step === 'day') return `${weekday} ${month} ${day}`;
  return `${month} ${day} ${new Date(startMs).toTimeString().slice(0, 5)}`;
}

function countOf(count: number): string {
  return count === 0 ? '' : count.toLocaleString('en');
}
