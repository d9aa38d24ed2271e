import { byRow, HOUR_MS, MINUTE_MS, startOf, type HistoryBucket } from '../../domain/history.ts';
import { bytesText } from '../../service/amounts.ts';
import { renderTable } from './table.ts';

/** How long the rows of a table are. */
type Step = 'minute' | 'hour' | 'day';

/** Up to so far back, rows are minutes, or hours; milliseconds. */
const MINUTES_UP_TO_MS = 2 * HOUR_MS;
const HOURS_UP_TO_MS = 48 * HOUR_MS;

interface Column {
  readonly head: string;
  readonly cell: (row: HistoryBucket) => string;
  /** Whether it is left out where it says nothing in any row. */
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

/**
 * What was done as a table in local time: minutes, hours or days, as is best for so long a time. Where nothing was done for
 * a while there is one row "…" for it.
 */
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

/** When the minute, the hour or the day begins, by the clock on the wall, that a moment is in. */
function rowOf(momentMs: number, step: Step): number {
  if (step === 'minute') return startOf(momentMs, MINUTE_MS);
  const moment = new Date(momentMs);
  // By minutes: an hour that a clock shows twice is two hours.
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

/** Such as "Nov 22 13:00" or, of a day, "Sun Nov 22". */
function timeOf(startMs: number, step: Step): string {
  const [weekday = '', month = '', day = ''] = new Date(startMs).toDateString().split(' ');
  if (step === 'day') return `${weekday} ${month} ${day}`;
  return `${month} ${day} ${new Date(startMs).toTimeString().slice(0, 5)}`;
}

function countOf(count: number): string {
  return count === 0 ? '' : count.toLocaleString('en');
}
