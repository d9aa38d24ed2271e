import {
  added,
  HOUR_MS,
  HOURS_KEPT_MS,
  MINUTE_MS,
  MINUTES_KEPT_MS,
  NOTHING_DONE,
  startOf,
  type HistoryBucket,
  type HistoryCounts,
} from '../domain/history.ts';
import type { FileEvent } from '../domain/report.ts';
import { type Query, isCount, isMoment, mustMakeSense, type Change } from './database.ts';
import { FileLogReader, FileLogStore } from './file-log.ts';
import type { Incidental } from './write-group.ts';

const COLUMNS =
  'span, start, sent_files, sent_bytes, updated, adopted, removed, failed, refused, requests, throttled, request_limit';

const COUNT_COLUMNS = COLUMNS.split(', ').slice(2, -1);

/** Adds to an existing row. */
const ON_CONFLICT = `ON CONFLICT (span, start) DO UPDATE SET
  ${COUNT_COLUMNS.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')},
  request_limit = min(coalesce(request_limit, excluded.request_limit), coalesce(excluded.request_limit, request_limit))`;

/** The most hours dropped at a time: a clock that is ahead for a while must not erase all of them. */
const MOST_HOURS_DROPPED = 48;

/** The most rows kept. Rows far from the present, left by a wrong clock, go first. */
const MOST_ROWS = 4000;

/** Reads the counts of the last days. All times in epoch milliseconds. Methods throw `StateFileError`. */
export class HistoryReader {
  readonly files: FileLogReader;
  readonly #query: Query;

  constructor(query: Query) {
    this.#query = query;
    this.files = new FileLogReader(query);
  }

  /**
   * Counts from `sinceMs` until before `untilMs`, the oldest first: in minutes as long as they are kept, in hours before that.
   * Times in which nothing was done have no bucket.
   */
  buckets(sinceMs: number, untilMs: number): HistoryBucket[] {
    const rows = this.#query(
      `SELECT ${COLUMNS} FROM history WHERE start + span > ? AND start < ? ORDER BY start, span DESC`,
      ...[sinceMs, untilMs],
    );
    return rows.map(toBucket);
  }
}

/** Gathers counts and events of files in memory, and writes them after other writes. */
export class HistoryStore extends HistoryReader implements Incidental {
  override readonly files: FileLogStore;
  readonly #run: Change;
  readonly #writeSoon: () => void;
  /** Unwritten counts by the start of their minute: usually one, two at the turn of a minute. */
  readonly #pending = new Map<number, HistoryBucket>();
  #timer: NodeJS.Timeout | null = null;
  #latestMs = 0;
  #prunedHourMs: number | null = null;
  #isClosed = false;

  /**
   * @param run - runs a statement in the open transaction.
   * @param writeSoon - has `write` called soon.
   */
  constructor(query: Query, run: Change, writeSoon: () => void) {
    super(query);
    this.files = new FileLogStore(query, run);
    this.#run = run;
    this.#writeSoon = writeSoon;
  }

  /** Adds counts, which are written within a minute or by `close`. Does nothing after `close`. */
  note(counts: Partial<HistoryCounts>, nowMs: number, requestLimit: number | null = null): void {
    if (this.#isClosed) return;
    const startMs = startOf(nowMs, MINUTE_MS);
    if (!this.#pending.has(startMs) && this.#pending.size > 0) this.#writeSoon();
    const bucket = this.#pending.get(startMs) ?? {
      ...NOTHING_DONE,
      startMs,
      spanMs: MINUTE_MS,
      requestLimit,
    };
    this.#pending.set(startMs, added(bucket, counts, requestLimit));
    this.#writeAfter(startMs + MINUTE_MS, nowMs);
  }

  /** Adds an event of a file, which is written as counts are. Does nothing after `close`. */
  noteFile(event: FileEvent, nowMs: number): void {
    if (this.#isClosed) return;
    this.files.note(event, nowMs);
    this.#writeAfter(startOf(nowMs, MINUTE_MS) + MINUTE_MS, nowMs);
  }

  #writeAfter(momentMs: number, nowMs: number): void {
    this.#latestMs = nowMs;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#writeSoon();
    }, momentMs - nowMs).unref();
  }

  /** Includes unwritten counts. */
  override buckets(sinceMs: number, untilMs: number): HistoryBucket[] {
    const buckets = super.buckets(sinceMs, untilMs);
    for (const pending of this.#pending.values()) {
      if (pending.startMs + MINUTE_MS <= sinceMs || pending.startMs >= untilMs) continue;
      const at = buckets.findIndex((one) => one.startMs === pending.startMs && one.spanMs === MINUTE_MS);
      const written = buckets[at];
      if (written !== undefined) buckets[at] = added(written, pending, pending.requestLimit);
      else buckets.push(pending);
    }
    return buckets.sort((one, other) => one.startMs - other.startMs || other.spanMs - one.spanMs);
  }

  get isPending(): boolean {
    return this.#pending.size > 0 || this.files.isPending;
  }

  /** Writes everything. What cannot be written is dropped. */
  write(): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const bucket of pending) this.#add(bucket);
    if (this.files.isPending) this.files.write();
    const hourMs = startOf(this.#latestMs, HOUR_MS);
    if (hourMs === this.#prunedHourMs) return;
    this.#prunedHourMs = hourMs;
    this.#prune(hourMs);
    this.files.dropOld(hourMs);
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#isClosed = true;
    this.#writeSoon();
  }

  #add({ spanMs, startMs, requestLimit, ...counts }: HistoryBucket): void {
    const { sentFiles, sentBytes, updated, adopted, removed, failed, refused, requests, throttled } = counts;
    this.#run(
      `INSERT INTO history (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ${ON_CONFLICT}`,
      ...[spanMs, startMs, sentFiles, sentBytes, updated, adopted, removed, failed, refused],
      ...[requests, throttled, requestLimit],
    );
  }

  /** Sums old minutes up to hours, and drops old hours. */
  #prune(hourMs: number): void {
    const sums = COUNT_COLUMNS.map((name) => `sum(${name})`).join(', ');
    const minutesSinceMs = hourMs - MINUTES_KEPT_MS;
    this.#run(
      `INSERT INTO history (${COLUMNS})
         SELECT ${HOUR_MS}, start - start % ${HOUR_MS}, ${sums}, min(request_limit) FROM history
         WHERE span = ${MINUTE_MS} AND start < ? GROUP BY 2 ${ON_CONFLICT}`,
      minutesSinceMs,
    );
    this.#run(`DELETE FROM history WHERE span = ${MINUTE_MS} AND start < ?`, minutesSinceMs);
    this.#run(
      `DELETE FROM history WHERE span = ${HOUR_MS} AND start IN
         (SELECT start FROM history WHERE span = ${HOUR_MS} AND start < ? ORDER BY start LIMIT ${MOST_HOURS_DROPPED})`,
      hourMs - HOURS_KEPT_MS,
    );
    this.#run(
      `DELETE FROM history WHERE (span, start) IN (SELECT span, start FROM history ORDER BY abs(start - ?) DESC
         LIMIT max(0, (SELECT count(*) FROM history) - ${MOST_ROWS}))`,
      hourMs,
    );
  }
}

function toBucket(row: readonly unknown[]): HistoryBucket {
  const [spanMs, startMs, sentFiles, sentBytes, updated, adopted, removed, failed, refused, ...rest] = row;
  const [requests, throttled, requestLimit] = rest;
  mustMakeSense(isCount(spanMs) && isMoment(startMs) && (requestLimit === null || isCount(requestLimit)));
  mustMakeSense(isCount(sentFiles) && isCount(sentBytes) && isCount(updated) && isCount(adopted));
  mustMakeSense(isCount(removed) && isCount(failed) && isCount(refused));
  mustMakeSense(isCount(requests) && isCount(throttled));
  const counts = { sentFiles, sentBytes, updated, adopted, removed, failed, refused, requests, throttled };
  return { startMs, spanMs, ...counts, requestLimit };
}
