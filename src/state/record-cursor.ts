import { PageCursor } from './page-cursor.ts';
import type { FileKey, RelativePath } from '../domain/brands.ts';
import type { Fingerprint } from '../domain/fingerprint.ts';
import type { Absence, Difference, FileRecord, RecordState, Verdict } from '../domain/record.ts';
import { isMoment, isText, mustMakeSense } from './soundness.ts';

/**
 * The columns of a `FileRecord`, in the order `toRecord` takes them. A file that was being told otherwise when a kill came
 * counts as told otherwise: the rules may be as before by now.
 */
export const RECORD_COLUMNS = `path, key, state, fingerprint, trusted, settings, expires_at, renew_at, absence, verdict,
  coalesce(differs, iif(changing IS NULL, NULL, 'facts'))`;

/** Rows are read this many at a time: one long read would keep SQLite from clearing its write-ahead log. */
export const PAGE_ROWS = 1000;

export type RecordRow = [
  string,
  string,
  string,
  string,
  number,
  string,
  number | null,
  number | null,
  string | null,
  string | null,
  string | null,
];

const STATES = new Set<string>([
  'sending',
  'synced',
  'failed',
  'refused',
  'removing',
] satisfies RecordState[]);
const ABSENCES = new Set<string | null>([null, 'removed', 'set-aside'] satisfies (Absence | null)[]);
const VERDICTS = new Set<unknown>([
  null,
  'stored',
  'searchable',
  'unsearchable',
] satisfies (Verdict | null)[]);
const DIFFERENCES = new Set<unknown>([null, 'content', 'facts', 'replaced'] satisfies (Difference | null)[]);

/** A row of `RECORD_COLUMNS` as a record. Throws `StateFileError` for one that was never written so. */
export function toRecord(row: RecordRow): FileRecord {
  mustMakeSense(isSound(row));
  return {
    path: row[0] as RelativePath,
    key: row[1] as FileKey,
    state: row[2] as RecordState,
    fingerprint: row[3] as Fingerprint,
    trusted: row[4] === 1,
    settingsDigest: row[5],
    expiresAtMs: row[6],
    renewAtMs: row[7],
    absence: row[8] as Absence | null,
    verdict: row[9] as Verdict | null,
    differs: row[10] as Difference | null,
  };
}

function isSound(row: RecordRow): boolean {
  const [path, key, state, fingerprint, , settings, expiresAtMs, renewAtMs, absence, verdict, differs] = row;
  return (
    [path, key, fingerprint, settings].every(isText) &&
    [expiresAtMs, renewAtMs].every((value) => value === null || isMoment(value)) &&
    STATES.has(state) &&
    ABSENCES.has(absence) &&
    isVerdict(verdict) &&
    isDifference(differs)
  );
}

/** Reads the records after (path, key), at most `PAGE_ROWS` of them. */
export type ReadPage = (path: string, key: string) => RecordRow[];

/** Records in path order. */
export class RecordCursor extends PageCursor<readonly [path: string, key: string], RecordRow, FileRecord> {
  constructor(readPage: ReadPage) {
    super({
      start: ['', ''],
      read: (after) => readPage(...after),
      placeOf: ([path, key]) => [path, key],
      itemOf: toRecord,
    });
  }

  /** Moves to the first record after a path, read again: for when rows of this source were moved in the meantime. */
  seekAfter(path: RelativePath): void {
    this.seek([path, HIGHEST_TEXT]);
  }
}

/** Sorts after every key. */
const HIGHEST_TEXT = '\u{10ffff}';

/** Whether a column holds the status of a file for good, or that it is not known. */
export function isVerdict(value: unknown): value is Verdict | null {
  return VERDICTS.has(value);
}

/** Whether a column holds what the platform has otherwise, or that nothing is. */
export function isDifference(value: unknown): value is Difference | null {
  return DIFFERENCES.has(value);
}
