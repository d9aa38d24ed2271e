import type { FileKey, RelativePath } from '../domain/key.ts';
import type { Fingerprint } from '../domain/fingerprint.ts';
import type { Absence, Difference, FileRecord, RecordState, Verdict } from '../domain/record.ts';
import { isCount, isMoment, isText, mustMakeSense } from './database.ts';

export type SqlRow = readonly unknown[];

/** The columns of a record, in the order in which `toRecord` takes them. */
export const COLUMNS = `target, source, path, key, state, fingerprint, trusted, settings, expires_at, renew_at, absence, absent_since,
  size_bytes, hex(sha256), uploaded, failure, changed_at, remote_id, verdict, sent_at, ask_at, asked_at, losses, mark_due, marked,
  changing, differs`;

/** Parses a JSON array of rows. Throws `StateFileError`: a blob in a damaged row may pass for SQLite's own form of JSON. */
export function parseRows(text: string): readonly SqlRow[] {
  try {
    return JSON.parse(text) as readonly SqlRow[];
  } catch (error) {
    mustMakeSense(!(error instanceof SyntaxError));
    throw error;
  }
}

const STATES = new Set<unknown>([
  'sending',
  'synced',
  'failed',
  'refused',
  'removing',
] satisfies RecordState[]);
const ABSENCES = new Set<unknown>([null, 'removed', 'kept', 'pruned', 'orphan'] satisfies (Absence | null)[]);
const VERDICTS = new Set<unknown>([
  null,
  'stored',
  'searchable',
  'unsearchable',
] satisfies (Verdict | null)[]);
const DIFFERENCES = new Set<unknown>([null, 'content', 'facts', 'replaced'] satisfies (Difference | null)[]);

/** Parses a row of `COLUMNS`. Throws `StateFileError` when botsync never wrote it. */
export function toRecord(row: SqlRow): FileRecord {
  const [target, source, path, key, state, fingerprint, trusted, settingsDigest, expiresAtMs, ...more] = row;
  const [renewAtMs, absence, absentSinceMs, sizeBytes, digits, uploaded, failure, changedAtMs, ...platform] =
    more;
  const [remoteId, verdict, sentAtMs, askAtMs, askedAtMs, losses, markDue, marked, changing, differs] =
    platform;
  mustMakeSense(
    isText(source) && isText(path) && isText(key) && isText(fingerprint) && isText(settingsDigest),
  );
  mustMakeSense(
    STATES.has(state) && ABSENCES.has(absence) && VERDICTS.has(verdict) && DIFFERENCES.has(differs),
  );
  mustMakeSense(isMomentOrNull(expiresAtMs) && isMomentOrNull(renewAtMs) && isMomentOrNull(absentSinceMs));
  mustMakeSense(isMomentOrNull(sentAtMs) && isMomentOrNull(askAtMs) && isMomentOrNull(askedAtMs));
  mustMakeSense(isTextOrNull(failure) && isTextOrNull(remoteId) && isTextOrNull(changing));
  mustMakeSense(isMoment(changedAtMs) && isCount(sizeBytes) && isCount(losses) && isText(digits));
  return {
    target: target as number,
    source,
    path: path as RelativePath,
    key: key as FileKey,
    state: state as RecordState,
    fingerprint: fingerprint as Fingerprint,
    trusted: trusted === 1,
    settingsDigest,
    expiresAtMs,
    renewAtMs,
    absence: absence as Absence | null,
    absentSinceMs,
    sizeBytes,
    sha256: digits === '' ? null : Buffer.from(digits, 'hex'),
    uploaded: uploaded === 1,
    failure,
    changedAtMs,
    remoteId,
    verdict: verdict as Verdict | null,
    sentAtMs,
    askAtMs,
    askedAtMs,
    losses,
    isMarkDue: markDue === 1,
    isMarked: marked === 1,
    changing,
    differs: differs as Difference | null,
  };
}

function isMomentOrNull(value: unknown): value is number | null {
  return value === null || isMoment(value);
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value);
}
