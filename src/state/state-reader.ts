import type { FileKey } from '../domain/brands.ts';
import type { FileRecord } from '../domain/record.ts';
import type { RereadState } from '../domain/rereading.ts';
import { NoticeReader } from './notices.ts';
import { guarded, type Database, type SqlValue, type Statement } from './database.ts';
import { REMOVAL_FAILED, REMOVAL_IS_DUE } from './conditions.ts';
import { PageCursor } from './page-cursor.ts';
import { HistoryReader } from './history.ts';
import { OverviewReader } from './overview-reader.ts';
import { RemoteReader } from './remote.ts';
import { RenewalReader } from './renewals.ts';
import { SentFileReader } from './sent-files.ts';
import { PAGE_ROWS, RECORD_COLUMNS, RecordCursor, toRecord, type RecordRow } from './record-cursor.ts';
import { isMoment, isText, mustMakeSense } from './soundness.ts';

/** Where a record counts: one bot at one address under one identity (canonical JSON of the identity headers). */
export interface SyncTarget {
  readonly baseUrl: string;
  readonly botId: string;
  readonly identity: string;
}

/** Names one row: a key of a target. */
export interface RowId {
  readonly target: number;
  readonly key: FileKey;
}

/** A record with what only single files need. */
export interface StoredFile extends FileRecord {
  readonly source: string;
  /** Of the bytes the platform holds; `null` while unknown. */
  readonly sha256: Buffer | null;
  /** Whether the platform took, or may have taken, an upsert of ours. */
  readonly uploaded: boolean;
  readonly failure: string | null;
  /** Epoch milliseconds. */
  readonly changedAtMs: number;
}

/** A source as it was last seen. */
export interface SeenSource {
  readonly directory: string;
  /** What the directory is recognised by. */
  readonly identity: string;
  readonly halted: string | null;
}

const STORED_COLUMNS = `${RECORD_COLUMNS}, source, sha256, uploaded, failure, changed_at`;

/** Sorts after every path that continues a name with a slash, and before all others that sort after it. */
const AFTER_SLASH = '0';

type SqlRow = readonly unknown[];

/** Stands on one record after the other, in the order of keys. */
export type KeyCursor = PageCursor<string, SqlRow, StoredFile>;

/** What the state file knows. All times in epoch milliseconds. Methods throw `StateFileError`. */
export class StateReader {
  protected readonly database: Database;
  /** What it knows of what people are told. */
  readonly notices: NoticeReader = new NoticeReader((sql, ...values) => this.all(sql, ...values));
  /** What it knows of what the platform has. */
  readonly remote: RemoteReader = new RemoteReader((sql, ...values) => this.all(sql, ...values));
  /** Which files are to be renewed. */
  readonly renewals = new RenewalReader((sql, ...values) => this.all(sql, ...values));
  /** What should be there. */
  readonly sent = new SentFileReader((sql, ...values) => this.all(sql, ...values));
  /** How everything stands. */
  readonly overview = new OverviewReader((sql, ...values) => this.all(sql, ...values));
  /** What was done in the last days. */
  readonly history: HistoryReader = new HistoryReader((sql, ...values) => this.all(sql, ...values));
  readonly #statements = new Map<string, Statement>();
  /** Numbers of targets that were never used. */
  readonly #unused = new Map<string, number>();

  constructor(database: Database) {
    this.database = database;
  }

  /** The number of a target; one that was never used has no records and a number of its own below zero. */
  targetId({ baseUrl, botId, identity }: SyncTarget): number {
    const named = [baseUrl, botId, identity] as const;
    const row = this.get(
      'SELECT id FROM target WHERE base_url = ? AND bot_id = ? AND identity = ?',
      ...named,
    );
    if (row !== undefined) return Number(row[0]);
    const name = JSON.stringify(named);
    const unused = this.#unused.get(name) ?? -1 - this.#unused.size;
    this.#unused.set(name, unused);
    return unused;
  }

  /** The records of a source in path order. */
  records(target: number, source: string): RecordCursor {
    const page = `SELECT ${RECORD_COLUMNS} FROM file WHERE target = ? AND source = ? AND (path, key) > (?, ?)
      ORDER BY path, key LIMIT ${PAGE_ROWS}`;
    return new RecordCursor((path, key) => this.all(page, target, source, path, key) as RecordRow[]);
  }

  /** The records of one path of a source and of everything below it, in path order. */
  recordsAt(target: number, source: string, path: string): RecordCursor {
    const select = `SELECT ${RECORD_COLUMNS} FROM file WHERE target = ? AND source = ?`;
    // Two ranges: what sorts between "a" and "a/" is no concern of "a".
    const page = `${select} AND path = ? AND (path, key) > (?, ?)
      UNION ALL ${select} AND (path, key) > (?, ?) AND path < ? ORDER BY path, key LIMIT ${PAGE_ROWS}`;
    const below = `${path}/`;
    return new RecordCursor((lastPath, lastKey) => {
      const last = lastPath.startsWith(below) ? [lastPath, lastKey] : [below, ''];
      const own = [target, source, path, lastPath, lastKey];
      return this.all(page, ...own, target, source, ...last, `${path}${AFTER_SLASH}`) as RecordRow[];
    });
  }

  /**
   * The records of a target over all its sources, in the order of their keys' bytes in UTF-8 (`Buffer.compare`), which
   * merges with a list of the platform's files that is sorted alike.
   */
  recordsByKey(target: number): KeyCursor {
    const page = `SELECT ${STORED_COLUMNS} FROM file INDEXED BY file_key WHERE target = ? AND key > ?
      ORDER BY key LIMIT ${PAGE_ROWS}`;
    return new PageCursor({
      start: '',
      read: (after) => this.all(page, target, after),
      placeOf: ([, key]) => key as string,
      itemOf: toStoredFile,
    });
  }

  /** The row of a key, whichever source it came from. */
  find({ target, key }: RowId): StoredFile | null {
    const row = this.get(`SELECT ${STORED_COLUMNS} FROM file WHERE target = ? AND key = ?`, target, key);
    return row === undefined ? null : toStoredFile(row);
  }

  /** A page of files of a source, after a path, that were being sent or removed when botsync ended: an upsert may have erased them. */
  interrupted(target: number, source: string, after: string): FileRecord[] {
    const rows = this.all(
      `SELECT ${RECORD_COLUMNS} FROM file WHERE target = ? AND source = ? AND path > ?
       AND (state = 'sending' OR (state = 'removing' AND expires_at IS NULL)) ORDER BY path LIMIT ${PAGE_ROWS}`,
      ...[target, source, after],
    );
    return (rows as RecordRow[]).map(toRecord);
  }

  /** The next file of a source, after a path, that is there and could not be sent; `null`: there is none. */
  nextUnsent(target: number, source: string, after: string): string | null {
    const row = this.get(
      `SELECT path FROM file WHERE source = ? AND target = ? AND failure IS NOT NULL AND state = 'failed'
       AND absence IS NULL AND path > ? ORDER BY path LIMIT 1`,
      ...[source, target, after],
    );
    return row === undefined ? null : String(row[0]);
  }

  /** How many files a source has on record that were not found missing, and how many were removed but not carried out. */
  countRecorded(target: number, source: string): { present: number; removed: number } {
    const row = this.get(
      `SELECT count(*) FILTER (WHERE absence IS NULL), count(*) FILTER (WHERE ${REMOVAL_IS_DUE})
       FROM file WHERE target = ? AND source = ?`,
      target,
      source,
    );
    return { present: Number(row?.[0]), removed: Number(row?.[1]) };
  }

  /** How far the files of a source that have to be read now and then were read; `null`: none were. */
  rereading(source: string): RereadState | null {
    const row = this.get('SELECT position, at FROM rereading WHERE source = ?', source);
    if (row === undefined) return null;
    const [position, atMs] = row;
    mustMakeSense(isMoment(position) && isMoment(atMs));
    return { position, atMs };
  }

  /** The sizes of a source's files whose fingerprints do not show every change (see `showsEveryChange`), together. */
  bytesWithoutStamps(target: number, source: string): number {
    const row = this.get(
      "SELECT total(size_bytes) FROM file WHERE target = ? AND source = ? AND fingerprint LIKE '%-'",
      target,
      source,
    );
    return Number(row?.[0]);
  }

  /** How many files below a path of a source were removed but not carried out. */
  countRemovalsBelow(target: number, source: string, path: string): number {
    const row = this.get(
      `SELECT count(*) FROM file WHERE target = ? AND source = ? AND path > ? AND path < ? AND ${REMOVAL_IS_DUE}`,
      ...[target, source, `${path}/`, `${path}${AFTER_SLASH}`],
    );
    return Number(row?.[0]);
  }

  /** How many removals of a source failed. */
  countFailedRemovals(target: number, source: string): number {
    const row = this.get(
      `SELECT count(*) FROM file INDEXED BY file_failure WHERE target = ? AND source = ? AND ${REMOVAL_FAILED}`,
      ...[target, source],
    );
    return Number(row?.[0]);
  }

  /**
   * A page of files whose removal is due and that were noticed missing by a moment, after a path.
   *
   * @param withFailed - also those whose removal failed before.
   */
  removalsDue(
    target: number,
    source: string,
    after: string,
    missingSinceMs: number,
    withFailed: boolean,
  ): FileRecord[] {
    const rows = this.all(
      `SELECT ${RECORD_COLUMNS} FROM file WHERE target = ? AND source = ? AND path > ? AND ${REMOVAL_IS_DUE}
       AND absent_since <= ? AND (? OR NOT (${REMOVAL_FAILED})) ORDER BY path LIMIT ${PAGE_ROWS}`,
      ...[target, source, after, missingSinceMs, Number(withFailed)],
    );
    return (rows as RecordRow[]).map(toRecord);
  }

  /** The sources and targets that have a removal due, noticed by a moment, which did not fail: cheap while there is none. */
  sourcesWithRemovalsDue(missingSinceMs: number): { source: string; target: number }[] {
    const rows = this.all(
      `SELECT DISTINCT source, target FROM file INDEXED BY file_removed
       WHERE absent_since <= ? AND ${REMOVAL_IS_DUE} AND NOT (${REMOVAL_FAILED})`,
      missingSinceMs,
    );
    return rows.map(([source, target]) => ({ source: source as string, target: target as number }));
  }

  /** How many removals of a source were carried out since a moment. */
  countRemovals(source: string, sinceMs: number): number {
    return Number(
      this.get('SELECT count(*) FROM removal WHERE source = ? AND at >= ?', source, sinceMs)?.[0],
    );
  }

  /** The source as it was last seen. */
  source(name: string): SeenSource | null {
    const row = this.get('SELECT directory, identity, halted FROM source WHERE name = ?', name);
    return row === undefined
      ? null
      : { directory: row[0] as string, identity: row[1] as string, halted: row[2] as string | null };
  }

  /** Where other file systems were mounted below a source when it was last seen whole. */
  mounts(source: string): string[] {
    const rows = this.all('SELECT path FROM mount WHERE source = ? ORDER BY path', source);
    mustMakeSense(rows.every(([path]) => isText(path)));
    return rows.map(([path]) => path as string);
  }

  /** How many rows this connection has written: as long as it stays, nothing here changed but by the time. */
  changes(): number {
    return Number(this.get('SELECT total_changes()')?.[0]);
  }

  /** By how much the platform's clock was ahead of ours, as far as it told, milliseconds. */
  platformAheadMs(): number {
    return Number(this.get('SELECT ahead FROM clock')?.[0] ?? 0);
  }

  /** The number of the pass that begins now. */
  nextPassNumber(): number {
    // Of a pass that was killed only its problems may be left.
    const known = 'SELECT number FROM pass UNION ALL SELECT pass FROM problem';
    return Number(this.get(`SELECT coalesce(max(number), 0) + 1 FROM (${known})`)?.[0]);
  }

  /** Closes the file. */
  close(): void {
    guarded(() => {
      this.database.close();
    });
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
}

function toStoredFile(row: SqlRow): StoredFile {
  const [source, sha256, uploaded, failure, changedAtMs] = row.slice(11);
  mustMakeSense(isText(source) && (failure === null || isText(failure)) && isMoment(changedAtMs));
  mustMakeSense(sha256 === null || sha256 instanceof Uint8Array);
  return {
    ...toRecord(row as unknown as RecordRow),
    source,
    sha256: sha256 === null ? null : Buffer.from(sha256),
    uploaded: uploaded === 1,
    failure,
    changedAtMs,
  };
}
