import type { FileKey, RelativePath } from '../domain/brands.ts';
import type { Absence, Difference, RecordState, Verdict } from '../domain/record.ts';
import type { Query } from './database.ts';
import { PageCursor } from './page-cursor.ts';
import { isMoment, isText, mustMakeSense } from './soundness.ts';

/** What a file on record should be on the platform. All times in epoch milliseconds. */
export interface SentFile {
  readonly key: FileKey;
  readonly source: string;
  readonly path: RelativePath;
  readonly state: RecordState;
  readonly absence: Absence | null;
  readonly sizeBytes: number;
  /** `null`: it is not known what the platform has. */
  readonly sha256: Buffer | null;
  readonly settingsDigest: string;
  readonly expiresAtMs: number | null;
  /** Why the state is `failed` or `refused`, or why it could not be indexed. */
  readonly failure: string | null;
  /** When the state changed last. */
  readonly changedAtMs: number;
  /** When the store had every byte; `null`: by an older botsync. */
  readonly sentAtMs: number | null;
  /** The platform's id of the file; `null`: it was not told. */
  readonly remoteId: string | null;
  readonly verdict: Verdict | null;
  /** Whether our mark of this content was set. */
  readonly isMarked: boolean;
  /** Whether a change in place was begun whose end is not known. */
  readonly isChanging: boolean;
  readonly differs: Difference | null;
  /** Whether the platform took, or may have taken, an upsert of ours. */
  readonly isUploaded: boolean;
}

/** Stands on one file after the other, in the order of the keys' bytes in UTF-8. */
export type SentFileCursor = PageCursor<string, readonly unknown[], SentFile>;

/** Rows are read this many at a time: one long read would keep SQLite from clearing its write-ahead log. */
const PAGE_ROWS = 1000;

const COLUMNS = `key, source, path, state, absence, size_bytes, sha256, settings, expires_at, failure, changed_at,
  sent_at, remote_id, verdict, marked, changing IS NOT NULL, differs, uploaded`;

const SHA256_COLUMN = 6;

/** The files on record as a comparison with what the platform has needs them. Methods throw `StateFileError`. */
export class SentFileReader {
  readonly #query: Query;

  constructor(query: Query) {
    this.#query = query;
  }

  /**
   * All of a target, over all its sources, in the order of their keys: merges with `PlatformListing.byKey`. A page comes as
   * one text: to hand over each value by itself takes three times as long as to read it.
   */
  byKey(target: number): SentFileCursor {
    const page = `SELECT json_group_array(json_array(${COLUMNS.replace('sha256', 'hex(sha256)')}))
      FROM (SELECT * FROM file INDEXED BY file_key WHERE target = ? AND key > ? ORDER BY key LIMIT ${PAGE_ROWS})`;
    return new PageCursor({
      start: '',
      read: (after) => parseRows(this.#query(page, target, after)[0]?.[0] as string),
      placeOf: (row) => row[0] as string,
      itemOf: (row) => toSentFile(row.with(SHA256_COLUMN, digestOf(row[SHA256_COLUMN]))),
    });
  }

  /** Those of a source at a target in the order of their paths. */
  byPath(target: number, source: string): PageCursor<string, readonly unknown[], SentFile> {
    const page = `SELECT ${COLUMNS}, path || char(0) || key FROM file WHERE target = ?1 AND source = ?2
      AND (path, key) > (?3, ?4) ORDER BY path, key LIMIT ${PAGE_ROWS}`;
    return new PageCursor({
      start: '\0',
      read: (after) => this.#query(page, target, source, ...after.split('\0')),
      placeOf: (row) => row.at(-1) as string,
      itemOf: toSentFile,
    });
  }

  /** The file of a key; `null`: there is no record of it. */
  find(target: number, key: string): SentFile | null {
    const [row] = this.#query(`SELECT ${COLUMNS} FROM file WHERE target = ? AND key = ?`, target, key);
    return row === undefined ? null : toSentFile(row);
  }
}

/** Throws `StateFileError`: a blob where none belongs may pass for JSON in SQLite's own form. */
function parseRows(text: string): readonly (readonly unknown[])[] {
  try {
    return JSON.parse(text) as readonly (readonly unknown[])[];
  } catch (error) {
    mustMakeSense(!(error instanceof SyntaxError));
    throw error;
  }
}

/** A digest of which the digits were read; of one that is not known there are none. */
function digestOf(digits: unknown): Buffer | null {
  return digits === '' ? null : Buffer.from(digits as string, 'hex');
}

function toSentFile(row: readonly unknown[]): SentFile {
  const [key, source, path, state, absence, sizeBytes, sha256, settings, expiresAtMs, failure] = row;
  const [changedAtMs, sentAtMs, remoteId, verdict, isMarked, isChanging, differs, uploaded] = row.slice(10);
  mustMakeSense([key, source, path, state, settings].every(isText) && typeof sizeBytes === 'number');
  mustMakeSense([failure, remoteId].every((text) => text === null || isText(text)) && isMoment(changedAtMs));
  mustMakeSense([expiresAtMs, sentAtMs].every((moment) => moment === null || isMoment(moment)));
  mustMakeSense(sha256 === null || sha256 instanceof Uint8Array);
  return {
    key: key as FileKey,
    source: source as string,
    path: path as RelativePath,
    state: state as RecordState,
    absence: absence as Absence | null,
    sizeBytes,
    sha256: sha256 === null || sha256 instanceof Buffer ? sha256 : Buffer.from(sha256),
    settingsDigest: settings as string,
    expiresAtMs: expiresAtMs as number | null,
    failure: failure as string | null,
    changedAtMs,
    sentAtMs: sentAtMs as number | null,
    remoteId: remoteId as string | null,
    verdict: verdict as Verdict | null,
    isMarked: isMarked === 1,
    isChanging: isChanging === 1,
    differs: differs as Difference | null,
    isUploaded: uploaded === 1,
  };
}
