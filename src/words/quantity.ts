const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Returns a count with its noun: "1 file", "1,204 files". `many`: for an irregular plural. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** Returns a duration: "12 s", "4 min", "3 h", "2 days". Negative durations count as 0. */
export function describeSpan(spanMs: number): string {
  const leftMs = Math.max(0, spanMs);
  // Rounding comes first: "60 s" is a minute.
  if (Math.round(leftMs / SECOND_MS) < 60) return `${Math.round(leftMs / SECOND_MS)} s`;
  if (Math.round(leftMs / MINUTE_MS) < 60) return `${Math.round(leftMs / MINUTE_MS)} min`;
  if (Math.round(leftMs / HOUR_MS) < 24) return `${Math.round(leftMs / HOUR_MS)} h`;
  return counted(Math.round(leftMs / DAY_MS), 'day');
}
