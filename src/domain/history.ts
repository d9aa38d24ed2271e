export interface HistoryCounts {
  /** Files whose content was sent, and their bytes. */
  readonly sentFiles: number;
  readonly sentBytes: number;
  /** Files whose settings were changed without sending their content. */
  readonly updated: number;
  /** Files without a record that the platform had already. */
  readonly adopted: number;
  readonly removed: number;
  /** Failed attempts, each counted. */
  readonly failed: number;
  /** Files that were refused before they were sent, counted in each pass that finds them. */
  readonly refused: number;
  /** Requests that the platform answered, without those to its store. */
  readonly requests: number;
  /** Requests refused because of the rate limit (429). */
  readonly throttled: number;
}

export interface HistoryBucket extends HistoryCounts {
  /** Epoch milliseconds. */
  readonly startMs: number;
  readonly spanMs: number;
  /** The lowest rate limit of the platform in that time, requests a minute; `null`: unknown. */
  readonly requestLimit: number | null;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Minutes are kept for this long, then merged into hours, milliseconds. */
export const MINUTES_KEPT_MS = 24 * HOUR_MS;

/** Hours are kept for this long, milliseconds. */
export const HOURS_KEPT_MS = 30 * DAY_MS;

export const NOTHING_DONE: HistoryCounts = {
  ...{ sentFiles: 0, sentBytes: 0, updated: 0, adopted: 0, removed: 0, failed: 0, refused: 0 },
  ...{ requests: 0, throttled: 0 },
};

export function startOf(momentMs: number, spanMs: number): number {
  return Math.floor(momentMs / spanMs) * spanMs;
}

/** Adds counts, and keeps the lower request limit. */
export function added<T extends HistoryBucket>(
  bucket: T,
  counts: Partial<HistoryCounts>,
  requestLimit: number | null,
): T {
  return {
    ...bucket,
    ...sumOf(bucket, counts),
    requestLimit: lowest(bucket.requestLimit, requestLimit),
  };
}

export function together(
  buckets: readonly HistoryBucket[],
  { startMs, spanMs }: Pick<HistoryBucket, 'startMs' | 'spanMs'>,
): HistoryBucket {
  const empty: HistoryBucket = { ...NOTHING_DONE, startMs, spanMs, requestLimit: null };
  return buckets.reduce((sum, one) => added(sum, one, one.requestLimit), empty);
}

/**
 * Groups buckets, oldest first, into rows.
 *
 * @param rowOf - the start of the row that contains a moment, epoch milliseconds; rows may differ in length, as days do.
 */
export function byRow(
  buckets: readonly HistoryBucket[],
  rowOf: (momentMs: number) => number,
): HistoryBucket[] {
  const rows = new Map<number, HistoryBucket>();
  for (const bucket of buckets) {
    const startMs = rowOf(bucket.startMs);
    const row = rows.get(startMs) ?? together([], { startMs, spanMs: 0 });
    rows.set(startMs, added(row, bucket, bucket.requestLimit));
  }
  return [...rows.values()];
}

/** Returns the highest number of requests a minute, each bucket averaged. */
export function busiest(buckets: readonly HistoryBucket[]): number {
  return Math.round(Math.max(0, ...buckets.map(({ requests, spanMs }) => requests / (spanMs / MINUTE_MS))));
}

function sumOf(one: HistoryCounts, other: Partial<HistoryCounts>): HistoryCounts {
  return {
    sentFiles: one.sentFiles + (other.sentFiles ?? 0),
    sentBytes: one.sentBytes + (other.sentBytes ?? 0),
    updated: one.updated + (other.updated ?? 0),
    adopted: one.adopted + (other.adopted ?? 0),
    removed: one.removed + (other.removed ?? 0),
    failed: one.failed + (other.failed ?? 0),
    refused: one.refused + (other.refused ?? 0),
    requests: one.requests + (other.requests ?? 0),
    throttled: one.throttled + (other.throttled ?? 0),
  };
}

function lowest(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
