import type { FileKey, RelativePath } from '../domain/key.ts';
import type { FileRecord, SentRecord } from '../domain/record.ts';
import {
  guarded,
  isMoment,
  isText,
  mustMakeSense,
  type Database,
  type SqlValue,
  type Statement,
} from './database.ts';
import { COLUMNS, parseRows, toRecord, type SqlRow } from './file-row.ts';
import { PAGE_ROWS, PageCursor } from './page-cursor.ts';

/** Names one record: a key of a target. */
export type RowId = Pick<FileRecord, 'target' | 'key'>;

/** One upload of a file: answers of the platform count for this one only. */
export type Sending = Pick<SentRecord, 'target' | 'key' | 'remoteId' | 'sentAtMs'>;

/** A record without its content: which file it is of. */
export type RecordedName = Pick<FileRecord, 'target' | 'source' | 'path' | 'key'>;

/** A record of a file that is to be renewed. */
export type ExpiringRecord = FileRecord & { readonly renewAtMs: number; readonly expiresAtMs: number };

/** Records of a source in path order. */
export type RecordCursor = PageCursor<FileRecord, Pick<FileRecord, 'path' | 'key'>>;

/** Sorts after every key. */
export const HIGHEST_KEY = '\u{10ffff}' as FileKey;

/** Sorts after every path that continues a name with a slash, and before all others that sort after it. */
const AFTER_SLASH = '0';

/** Files that the platform is asked about. */
const IS_ASKED = `ask_at IS NOT NULL AND state = 'synced' AND remote_id IS NOT NULL AND sha256 IS NOT NULL
  AND sent_at IS NOT NULL`;

/** Files whose final status is unknown. */
const IS_UNCONFIRMED = `${IS_ASKED} AND verdict IS NULL AND absence IS NULL`;

/** Reads the records of files (the table `file`). All times in epoch milliseconds. Methods throw `StateFileError`. */
export class FileReader {
  protected readonly database: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database) {
    this.database = database;
  }

  /** The record of a key, whichever source it came from. */
  find({ target, key }: RowId): FileRecord | null {
    const row = this.get(`SELECT ${COLUMNS} FROM file WHERE target = ? AND key = ?`, target, key);
    return row === undefined ? null : toRecord(row);
  }

  /** The records of a source in path order, after a path. */
  records(target: number, source: string, afterPath = ''): RecordCursor {
    const page = `SELECT * FROM file WHERE target = ? AND source = ? AND (path, key) > (?, ?)
      ORDER BY path, key LIMIT ${PAGE_ROWS}`;
    return new PageCursor((after) =>
      this.#records(page, target, source, after?.path ?? afterPath, after?.key ?? HIGHEST_KEY),
    );
  }

  /** The records of one path of a source and of everything below it, in path order. */
  recordsAt(target: number, source: string, path: string): RecordCursor {
    const select = `SELECT * FROM file WHERE target = ? AND source = ?`;
    // Two ranges: paths that sort between "a" and "a/" are not below "a".
    const page = `${select} AND path = ? AND (path, key) > (?, ?)
      UNION ALL ${select} AND (path, key) > (?, ?) AND path < ? ORDER BY path, key LIMIT ${PAGE_ROWS}`;
    const below = `${path}/`;
    return new PageCursor((after) => {
      const last = [after?.path ?? '', after?.key ?? ''] as const;
      const lastBelow = last[0].startsWith(below) ? last : [below, ''];
      const own = [target, source, path, ...last];
      return this.#records(page, ...own, target, source, ...lastBelow, `${path}${AFTER_SLASH}`);
    });
  }

  /** The records of a target over all its sources in the order of their keys' bytes in UTF-8: merges with `PlatformListing.byKey`. */
  recordsByKey(target: number): PageCursor<FileRecord, Pick<FileRecord, 'key'>> {
    const page = `SELECT * FROM file INDEXED BY file_key WHERE target = ? AND key > ? ORDER BY key LIMIT ${PAGE_ROWS}`;
    return new PageCursor((after) => this.#records(page, target, after?.key ?? ''));
  }

  /** A page of files of a source, after a path, that were being sent or removed when botsync ended: an upsert may have erased them. */
  interrupted(target: number, source: string, after: string): FileRecord[] {
    return this.#records(
      `SELECT * FROM file WHERE target = ? AND source = ? AND path > ?
       AND (state = 'sending' OR (state = 'removing' AND expires_at IS NULL)) ORDER BY path LIMIT ${PAGE_ROWS}`,
      ...[target, source, after],
    );
  }

  /** The next file of a source, after a path, that exists and could not be sent; `null`: there is none. */
  nextUnsent(target: number, source: string, after: string): string | null {
    const row = this.get(
      `SELECT path FROM file WHERE source = ? AND target = ? AND failure IS NOT NULL AND state = 'failed'
       AND absence IS NULL AND path > ? ORDER BY path LIMIT 1`,
      ...[source, target, after],
    );
    return row === undefined ? null : String(row[0]);
  }

  /** How many files a source has on record that were not found missing, and how many removals are due. */
  countRecorded(target: number, source: string): { present: number; removed: number } {
    const row = this.get(
      `SELECT count(*) FILTER (WHERE absence IS NULL), count(*) FILTER (WHERE ${REMOVAL_IS_DUE})
       FROM file WHERE target = ? AND source = ?`,
      ...[target, source],
    );
    return { present: Number(row?.[0]), removed: Number(row?.[1]) };
  }

  /** The total size of a source's files whose fingerprints do not show every change (see `showsEveryChange`). */
  bytesWithoutStamps(target: number, source: string): number {
    return this.#number(
      "SELECT total(size_bytes) FROM file WHERE target = ? AND source = ? AND fingerprint LIKE '%-'",
      ...[target, source],
    );
  }

  /** The due removals of a source that were noticed after a moment and that nobody has approved as a list, in path order. */
  *removalsToJudge(target: number, source: string, noticedAfterMs: number): Generator<FileRecord, void> {
    const page = `SELECT * FROM file WHERE target = ? AND source = ? AND path > ? AND ${REMOVAL_IS_DUE}
      AND absence <> 'pruned' AND absent_since > ? ORDER BY path LIMIT ${PAGE_ROWS}`;
    let last = '';
    for (let records = null; records === null || records.length === PAGE_ROWS;) {
      records = this.#records(page, target, source, last, noticedAfterMs);
      yield* records;
      last = records.at(-1)?.path ?? last;
    }
  }

  /** The source of each orphan whose removal is due. */
  orphans(): string[] {
    const rows = this.all(
      `SELECT source FROM file INDEXED BY file_removed WHERE ${REMOVAL_IS_DUE} AND absence = 'orphan'`,
    );
    return rows.map(([source]) => String(source));
  }

  /** Returns whether somebody wants files of a source removed whatever the mode. Cheap while nothing is to be removed. */
  hasAskedRemovals(target: number, source: string): boolean {
    const row = this.get(
      `SELECT 1 FROM file INDEXED BY file_removed
       WHERE ${REMOVAL_IS_DUE} AND absence IN ('pruned', 'orphan') AND target = ? AND source = ? LIMIT 1`,
      ...[target, source],
    );
    return row !== undefined;
  }

  countFailedRemovals(target: number, source: string): number {
    return this.#number(
      `SELECT count(*) FROM file INDEXED BY file_failure WHERE target = ? AND source = ? AND ${REMOVAL_FAILED}`,
      ...[target, source],
    );
  }

  /**
   * A page of files whose removal is due and that were noticed missing by a moment, after a path.
   *
   * @param withFailed - includes those whose removal failed before.
   */
  removalsDue(
    target: number,
    source: string,
    after: string,
    missingSinceMs: number,
    withFailed: boolean,
  ): FileRecord[] {
    return this.#records(
      `SELECT * FROM file WHERE target = ? AND source = ? AND path > ? AND ${REMOVAL_IS_DUE}
       AND absent_since <= ? AND (? OR NOT (${REMOVAL_FAILED})) ORDER BY path LIMIT ${PAGE_ROWS}`,
      ...[target, source, after, missingSinceMs, Number(withFailed)],
    );
  }

  /** The sources and targets that have a removal due, noticed by a moment, which did not fail. Cheap while there is none. */
  sourcesWithRemovalsDue(missingSinceMs: number): Pick<FileRecord, 'source' | 'target'>[] {
    const rows = this.all(
      `SELECT DISTINCT source, target FROM file INDEXED BY file_removed
       WHERE absent_since <= ? AND ${REMOVAL_IS_DUE} AND NOT (${REMOVAL_FAILED})`,
      missingSinceMs,
    );
    return rows.map(([source, target]) => ({ source: source as string, target: target as number }));
  }

  /** How many files of a source should have been renewed by a moment (the platform's time), and were not. */
  countOverdueRenewals(target: number, source: string, sinceMs: number): number {
    return this.#number(
      `SELECT count(*) FROM file INDEXED BY file_renewal
       WHERE renew_at <= ? AND target = ? AND source = ? AND absence IS NULL`,
      ...[sinceMs, target, source],
    );
  }

  /**
   * A page of files of a source that are to be renewed by a moment, by that moment and path. Moments are the platform's time.
   *
   * @param failedUntilMs - includes those that failed and expire between now and then.
   */
  renewalsDue(
    target: number,
    source: string,
    untilMs: number,
    failedUntilMs: number,
    after: FileRecord | null,
  ): FileRecord[] {
    return this.#records(
      `SELECT * FROM file INDEXED BY file_renewal
       WHERE target = ? AND source = ? AND renew_at <= ? AND (renew_at, path) > (?, ?)
         AND (state = 'synced' OR (state = 'failed' AND expires_at > ? AND expires_at <= ?)) AND absence IS NULL
       ORDER BY renew_at, path LIMIT ${PAGE_ROWS}`,
      ...[target, source, untilMs, after?.renewAtMs ?? 0, after?.path ?? '', untilMs, failedUntilMs],
    );
  }

  /** When the first file of a source expires that will be renewed before, epoch milliseconds; `null`: none will be. */
  firstRenewableExpiry(target: number, source: string): number | null {
    const [expiresAtMs = null] =
      this.get(
        `SELECT min(expires_at) FROM file INDEXED BY file_renewal
         WHERE target = ? AND source = ? AND renew_at IS NOT NULL AND absence IS NULL`,
        ...[target, source],
      ) ?? [];
    mustMakeSense(expiresAtMs === null || isMoment(expiresAtMs));
    return expiresAtMs;
  }

  /** The next files of a source to be renewed, at most `limit`. */
  nextRenewals(target: number, source: string, limit: number): ExpiringRecord[] {
    const records = this.#records(
      `SELECT * FROM file INDEXED BY file_renewal
       WHERE target = ? AND source = ? AND renew_at IS NOT NULL AND expires_at IS NOT NULL AND absence IS NULL
       ORDER BY renew_at, path LIMIT ?`,
      ...[target, source, limit],
    );
    return records as ExpiringRecord[];
  }

  /** Files of a target that the platform is to be asked about by a moment, the longest due first, at most `limit`. */
  confirmationsDue(target: number, untilMs: number, limit: number): SentRecord[] {
    const records = this.#records(
      `SELECT * FROM file INDEXED BY file_ask WHERE target = ? AND ask_at <= ? AND ${IS_ASKED} ORDER BY ask_at LIMIT ?`,
      ...[target, untilMs, limit],
    );
    mustMakeSense(records.every(({ sha256 }) => sha256 !== null));
    return records as SentRecord[];
  }

  /** When the platform is to be asked about files of a target, in order: the first `limit` moments. */
  askTimes(target: number, limit: number): number[] {
    const rows = this.all(
      `SELECT ask_at FROM file INDEXED BY file_ask WHERE target = ? AND ${IS_ASKED} ORDER BY ask_at LIMIT ?`,
      ...[target, limit],
    );
    const times = rows.map(([atMs]) => atMs);
    mustMakeSense(times.every(isMoment));
    return times;
  }

  /** How many files of a target wait for their final status. */
  countUnconfirmed(target: number): number {
    return this.#number(
      `SELECT count(*) FROM file INDEXED BY file_ask WHERE target = ? AND ${IS_UNCONFIRMED}`,
      target,
    );
  }

  /** Files of a target that have waited too long for their final status, with a failure that says so, at most `limit`. */
  overdueConfirmations(target: number, limit: number): (FileRecord & { readonly failure: string })[] {
    const records = this.#records(
      `SELECT * FROM file INDEXED BY file_ask
       WHERE target = ? AND ${IS_UNCONFIRMED} AND failure IS NOT NULL ORDER BY ask_at LIMIT ?`,
      ...[target, limit],
    );
    return records as (FileRecord & { readonly failure: string })[];
  }

  /** Files of a target that the platform lost and that are to be sent again by a moment, at most `limit`. */
  resendsDue(target: number, untilMs: number, limit: number): RecordedName[] {
    const rows = this.all(
      `SELECT target, source, path, key FROM file INDEXED BY file_resend
       WHERE target = ? AND ask_at <= ? AND state = 'failed' ORDER BY ask_at LIMIT ?`,
      ...[target, untilMs, limit],
    );
    return rows.map(toName);
  }

  /** Files that are sent once more by a moment because of what another host left under way (see `SuspectStore`), at most `limit`. */
  suspectsDue(nowMs: number, limit: number): RecordedName[] {
    const rows = this.all(
      `SELECT file.target, source, path, file.key FROM suspect
       JOIN file ON file.target = suspect.target AND file.key = suspect.key WHERE again_at <= ? LIMIT ?`,
      ...[nowMs, limit],
    );
    return rows.map(toName);
  }

  /** Returns whether a file was not sent again since this upload. */
  isCurrent(sending: Sending): boolean {
    return this.get(`SELECT 1 FROM file WHERE ${IS_SENDING}`, ...sendingValues(sending)) !== undefined;
  }

  protected get(sql: string, ...values: SqlValue[]): SqlRow | undefined {
    return guarded(() => this.statement(sql).get(...values) as SqlRow | undefined);
  }

  protected all(sql: string, ...values: SqlValue[]): SqlRow[] {
    return guarded(() => this.statement(sql).all(...values) as SqlRow[]);
  }

  protected statement(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = guarded(() => this.database.prepare(sql));
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #number(sql: string, ...values: SqlValue[]): number {
    return Number(this.get(sql, ...values)?.[0]);
  }

  /** Reads rows of `file` as one text: passing each value alone takes twice as long. `select`: ordered and limited. */
  #records(select: string, ...values: SqlValue[]): FileRecord[] {
    const [text] =
      this.get(`SELECT json_group_array(json_array(${COLUMNS})) FROM (${select})`, ...values) ?? [];
    return parseRows(text as string).map(toRecord);
  }
}

/** Matches a record whose upload was not followed by another; takes `sendingValues`. */
export const IS_SENDING = `target = ? AND key = ? AND remote_id = ? AND sent_at = ? AND state = 'synced'`;

export function sendingValues({ target, key, remoteId, sentAtMs }: Sending): SqlValue[] {
  return [target, key, remoteId, sentAtMs];
}

function toName([target, source, path, key]: SqlRow): RecordedName {
  mustMakeSense(isText(source) && isText(path) && isText(key));
  return { target: target as number, source, path: path as RelativePath, key: key as FileKey };
}

// Conditions on rows of `file`, in SQL.

/** An empty file that expires is in its place. One whose removal was begun and not answered may still be there. */
export const IS_PUT_AWAY = "state = 'removing' AND expires_at IS NOT NULL";

/** It is to be removed from the platform: the same words as in the index `file_removed`. */
const IS_TO_REMOVE = "absence IN ('removed', 'pruned', 'orphan')";

/** The last attempt to remove it failed. */
export const REMOVAL_FAILED = `state = 'removing' AND failure IS NOT NULL AND ${IS_TO_REMOVE}`;

/** Removed locally, on the platform by us, or perhaps, and not put away yet. */
export const REMOVAL_IS_DUE = `${IS_TO_REMOVE} AND (uploaded = 1 OR state = 'sending') AND NOT (${IS_PUT_AWAY})`;

/** Something of it may still arrive that another host sent. */
export const IS_SUSPECT =
  'EXISTS (SELECT 1 FROM suspect WHERE suspect.target = file.target AND suspect.key = file.key)';
