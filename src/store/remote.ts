import type { RelativePath } from '../domain/key.ts';
import type { OptionalOperation } from '../domain/file-catalog.ts';
import { isSentSettings, type SentSettings } from '../domain/settings.ts';
import { type Query, isMoment, isText, mustMakeSense, type Change } from './database.ts';
import type { Fingerprint } from '../domain/fingerprint.ts';
import type { Difference, Verdict } from '../domain/record.ts';
import { IS_SENDING, sendingValues, type Sending, type RowId } from './file-reader.ts';

/** An operation that the platform did not serve. `askedAtMs`: of the last request, epoch milliseconds. */
export interface UnservedOperation {
  readonly reason: string;
  readonly askedAtMs: number;
  /** True if only the token of that time was refused. */
  readonly isByToken: boolean;
}

/** Reads what is recorded of the platform besides its files. Methods throw `StateFileError`. */
export class RemoteReader {
  protected readonly query: Query;
  /** Settings by digest: about as many as there are rules, and never changed. */
  readonly #told = new Map<string, SentSettings>();

  constructor(query: Query) {
    this.query = query;
  }

  /** The settings that were sent under a digest; `null`: unknown. */
  toldSettings(digest: string): SentSettings | null {
    const known = this.#told.get(digest);
    if (known !== undefined) return known;
    const [row] = this.query('SELECT told, json_valid(told) FROM told_settings WHERE digest = ?', digest);
    if (row === undefined) return null;
    mustMakeSense(isText(row[0]) && row[1] === 1);
    const told: unknown = JSON.parse(row[0]);
    mustMakeSense(isSentSettings(told));
    this.#told.set(digest, told);
    return told;
  }

  /**
   * Returns whether the platform's files of a source have to be adopted: the source has no records at the target, or the pass that
   * adopted was interrupted.
   */
  isAdoptionDue(target: number, source: string): boolean {
    const known = [target, source];
    const [begun] = this.query('SELECT done FROM adoption WHERE target = ? AND source = ?', ...known);
    if (begun !== undefined) return begun[0] === 0;
    return this.query('SELECT 1 FROM file WHERE target = ? AND source = ? LIMIT 1', ...known).length === 0;
  }

  /** `null`: the operation is served, or was never requested. */
  unserved(target: number, operation: OptionalOperation): UnservedOperation | null {
    const [row] = this.query(
      'SELECT reason, asked_at, by_token FROM unserved_operation WHERE target = ? AND name = ?',
      ...[target, operation],
    );
    if (row === undefined) return null;
    const [reason, askedAtMs, isByToken] = row;
    mustMakeSense(isText(reason) && isMoment(askedAtMs));
    return { reason, askedAtMs, isByToken: isByToken === 1 };
  }

  /** The last verification; `summary` is JSON. */
  verification(): { readonly finishedAtMs: number; readonly summary: string } | null {
    const [row] = this.query('SELECT finished_at, summary, json_valid(summary) FROM verification');
    if (row === undefined) return null;
    const [finishedAtMs, summary, isJson] = row;
    mustMakeSense(isMoment(finishedAtMs) && isText(summary) && isJson === 1);
    return { finishedAtMs, summary };
  }
}

/** `resendAtMs`: epoch milliseconds; `null`: with the next rescan, unless the file is refused. */
export interface RecordedLoss {
  readonly state: 'failed' | 'refused';
  readonly reason: string;
  readonly resendAtMs: number | null;
}

/** A file that a comparison found on the platform as it should be. */
export interface FoundFile {
  readonly remoteId: string;
  /** `null`: the status is not final. */
  readonly verdict: Verdict | null;
  readonly isMarked: boolean;
}

/** A file without a record that the platform has as it is here. All times in epoch milliseconds. */
export interface AdoptedFile {
  readonly source: string;
  readonly path: RelativePath;
  readonly fingerprint: Fingerprint;
  readonly trusted: boolean;
  readonly settingsDigest: string;
  readonly sizeBytes: number;
  readonly sha256: Buffer;
  readonly remoteId: string;
  readonly verdict: Verdict | null;
  /** When the platform is asked for the status; `null`: it is final. */
  readonly askAtMs: number | null;
  readonly expiresAtMs: number | null;
  readonly renewAtMs: number | null;
}

/** A file after a change in place. All times in epoch milliseconds. */
export interface ChangedFile {
  readonly settingsDigest: string;
  readonly expiresAtMs: number | null;
  readonly renewAtMs: number | null;
  readonly verdict: Verdict | null;
  /** When the platform is asked for the status; `null`: it is final. */
  readonly askAtMs: number | null;
  readonly isMarked: boolean;
}

/** Records answers of the platform. Methods throw `StateFileError`. */
export class RemoteStore extends RemoteReader {
  readonly #write: Change;
  readonly #durable: () => Promise<void>;
  /** Digests whose settings are recorded. */
  readonly #known = new Set<string>();

  /** @param durable - resolves once all writes so far are durable. */
  constructor(query: Query, write: Change, durable: () => Promise<void>) {
    super(query);
    this.#write = write;
    this.#durable = durable;
  }

  rememberSettings(digest: string, told: () => SentSettings): void {
    if (this.#known.has(digest)) return;
    this.#known.add(digest);
    this.#write(
      'INSERT INTO told_settings (digest, told) VALUES (?, ?) ON CONFLICT DO NOTHING',
      ...[digest, JSON.stringify(told())],
    );
  }

  /** Schedules the next question, unless the file was sent again. `trouble`: a failure to show; `null`: none. */
  askAgain(
    sending: Sending,
    { askAtMs, trouble }: { readonly askAtMs: number; readonly trouble: string | null },
    nowMs: number,
  ): void {
    this.#write(
      `UPDATE file SET ask_at = ?, asked_at = ?, failure = ? WHERE ${IS_SENDING}`,
      ...[askAtMs, nowMs, trouble, ...sendingValues(sending)],
    );
  }

  /** Postpones the next question, unless the file was sent again. */
  postpone(sending: Sending, askAtMs: number): void {
    this.#write(`UPDATE file SET ask_at = ? WHERE ${IS_SENDING}`, askAtMs, ...sendingValues(sending));
  }

  /** Ends the questions about a file, unless it was sent again. */
  stopAsking(sending: Sending): void {
    this.#write(
      `UPDATE file SET ask_at = NULL, failure = NULL WHERE ${IS_SENDING}`,
      ...sendingValues(sending),
    );
  }

  /** Brings all questions about files of a target forward to a moment, epoch milliseconds. */
  askBy(target: number, atMs: number): void {
    this.#write('UPDATE file SET ask_at = ? WHERE target = ? AND ask_at > ?', atMs, target, atMs);
  }

  /**
   * Records the final status of a file, unless it was sent again. A mark that still has to be set is due now. `reason`: why the
   * file is not searchable.
   */
  recordVerdict(
    sending: Sending,
    { verdict, reason }: { readonly verdict: Verdict; readonly reason: string | null },
    nowMs: number,
  ): void {
    const markAtMs = verdict === 'unsearchable' ? null : nowMs;
    this.#write(
      `UPDATE file SET verdict = ?, failure = ?, ask_at = iif(mark_due = 1, ?, NULL), asked_at = ?, losses = 0
       WHERE ${IS_SENDING}`,
      ...[verdict, reason, markAtMs, nowMs, ...sendingValues(sending)],
    );
  }

  /** Takes the final status back, unless the file was sent again: the platform is asked again. */
  withdrawVerdict(sending: Sending, askAtMs: number): void {
    this.#write(
      `UPDATE file SET verdict = NULL, ask_at = ? WHERE ${IS_SENDING}`,
      ...[askAtMs, ...sendingValues(sending)],
    );
  }

  /**
   * Records that the platform lacks content that the store had taken, unless the file was sent again.
   */
  recordLoss(sending: Sending, { state, reason, resendAtMs }: RecordedLoss, nowMs: number): void {
    this.#write(
      `UPDATE file SET state = ?, failure = ?, losses = losses + 1, verdict = NULL, ask_at = ?, asked_at = ?,
         changed_at = ? WHERE ${IS_SENDING}`,
      ...[state, reason, resendAtMs, nowMs, nowMs, ...sendingValues(sending)],
    );
  }

  /** Marks a lost file as being sent again. */
  takeResend({ target, key }: RowId): void {
    this.#write(
      "UPDATE file SET ask_at = NULL WHERE target = ? AND key = ? AND state = 'failed'",
      ...[target, key],
    );
  }

  /** Records that the mark of a content was set, or never will be, unless the file was sent again. */
  recordMarked(sending: Sending, isMarked: boolean): void {
    this.#write(
      `UPDATE file SET mark_due = 0, marked = max(marked, ?), ask_at = NULL WHERE ${IS_SENDING}`,
      ...[Number(isMarked), ...sendingValues(sending)],
    );
  }

  recordFound({ target, key }: RowId, { remoteId, verdict, isMarked }: FoundFile, nowMs: number): void {
    this.#write(
      `UPDATE file SET remote_id = ?1, verdict = coalesce(?2, verdict), asked_at = ?3, marked = max(marked, ?4),
         failure = iif(?2 IS NULL, failure, NULL),
         mark_due = iif(?4, 0, mark_due), ask_at = iif(?2 IS NULL, coalesce(ask_at, ?3), NULL)
       WHERE target = ?5 AND key = ?6 AND state = 'synced'`,
      ...[remoteId, verdict, nowMs, Number(isMarked), target, key],
    );
  }

  /** Records the result of a comparison; `null`: no difference. */
  recordDifference({ target, key }: RowId, differs: Difference | null): void {
    this.#write('UPDATE file SET differs = ? WHERE target = ? AND key = ?', differs, target, key);
  }

  /** Records the intent to change a file in place. The request must wait for the promise: the intent is durable then. */
  async beginChanging({ target, key }: RowId, settingsDigest: string): Promise<void> {
    this.#write('UPDATE file SET changing = ? WHERE target = ? AND key = ?', settingsDigest, target, key);
    await this.#durable();
  }

  /** Records a change in place: other settings or another expiry, and the same content. */
  recordChanged({ target, key }: RowId, changed: ChangedFile, nowMs: number): void {
    const { settingsDigest, expiresAtMs, renewAtMs, verdict, askAtMs, isMarked } = changed;
    this.#write(
      `UPDATE file SET settings = ?, expires_at = ?, renew_at = ?, verdict = ?, ask_at = ?, absence = NULL, mark_due = 0,
         marked = max(marked, ?), changing = NULL, differs = NULL, changed_at = ? WHERE target = ? AND key = ?`,
      ...[settingsDigest, expiresAtMs, renewAtMs, verdict, askAtMs, Number(isMarked), nowMs, target, key],
    );
  }

  recordAdopted({ target, key }: RowId, adopted: AdoptedFile, nowMs: number): void {
    const { source, path, fingerprint, trusted, settingsDigest, sizeBytes, sha256 } = adopted;
    const { remoteId, verdict, askAtMs, expiresAtMs, renewAtMs } = adopted;
    this.#write(
      `INSERT INTO file (target, source, path, key, state, fingerprint, trusted, settings, size_bytes, sha256, uploaded,
         marked, remote_id, verdict, ask_at, expires_at, renew_at, changed_at, sent_at)
       VALUES (?, ?, ?, ?, 'synced', ?, ?, ?, ?, ?, 1, 1, ?, ?, ?, ?, ?, ?15, ?15) ON CONFLICT (target, key) DO NOTHING`,
      ...[target, source, path, key, fingerprint, Number(trusted), settingsDigest, sizeBytes, sha256],
      ...[remoteId, verdict, askAtMs, expiresAtMs, renewAtMs, nowMs],
    );
  }

  beginAdoption(target: number, source: string): void {
    this.#write(
      'INSERT INTO adoption (target, source, done) VALUES (?, ?, 0) ON CONFLICT DO NOTHING',
      ...[target, source],
    );
  }

  /** Has the next pass adopt again what has no record. */
  adoptAgain(target: number, source: string): void {
    this.#write(
      'INSERT INTO adoption (target, source, done) VALUES (?, ?, 0) ON CONFLICT DO UPDATE SET done = 0',
      ...[target, source],
    );
  }

  /** Treats a synced file, or all of them, as an interrupted attempt: it is unknown what the platform has. */
  doubt(id: RowId | null): void {
    const sql =
      "UPDATE file SET state = 'sending', sha256 = NULL, verdict = NULL, ask_at = NULL WHERE state = 'synced'";
    if (id === null) this.#write(sql);
    else this.#write(`${sql} AND target = ? AND key = ?`, id.target, id.key);
  }

  endAdoption(target: number, source: string): void {
    this.#write('UPDATE adoption SET done = 1 WHERE target = ? AND source = ?', target, source);
  }

  noteUnserved(target: number, operation: OptionalOperation, unserved: UnservedOperation): void {
    const { reason, askedAtMs, isByToken } = unserved;
    this.#write(
      'INSERT OR REPLACE INTO unserved_operation (target, name, reason, asked_at, by_token) VALUES (?, ?, ?, ?, ?)',
      ...[target, operation, reason, askedAtMs, Number(isByToken)],
    );
  }

  noteServed(target: number, operation: OptionalOperation): void {
    this.#write('DELETE FROM unserved_operation WHERE target = ? AND name = ?', target, operation);
  }

  /** @param summary - JSON. */
  saveVerification(finishedAtMs: number, summary: string): void {
    this.#write(
      'INSERT OR REPLACE INTO verification (only_row, finished_at, summary) VALUES (1, ?, ?)',
      ...[finishedAtMs, summary],
    );
  }
}
