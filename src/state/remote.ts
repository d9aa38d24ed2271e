import type { FileKey, RelativePath } from '../domain/brands.ts';
import type { OptionalOperation } from '../domain/file-catalog.ts';
import type { Fingerprint } from '../domain/fingerprint.ts';
import type { Difference, Verdict } from '../domain/record.ts';
import { isToldSettings, type ToldSettings } from '../domain/settings.ts';
import type { Query, SqlValue } from './database.ts';
import type { Change } from './notices.ts';
import { isDifference, isVerdict } from './record-cursor.ts';
import { isCount, isMoment, isText, mustMakeSense } from './soundness.ts';

/** A file whose fate the platform is still to be asked about. All times in epoch milliseconds. */
export interface Unconfirmed {
  readonly key: FileKey;
  readonly source: string;
  readonly path: RelativePath;
  /** The platform's id of the file. */
  readonly remoteId: string;
  readonly sizeBytes: number;
  readonly settingsDigest: string;
  readonly sha256: Buffer;
  /** When the store had every byte. */
  readonly sentAtMs: number;
  /** How often the platform lost this content after the store had taken it. */
  readonly losses: number;
  /** Whether the mark of the content is still to be set. */
  readonly isMarkDue: boolean;
  readonly verdict: Verdict | null;
}

/** What is known of one file on the platform. All times in epoch milliseconds. */
export interface RemoteFile {
  /** The platform's id of the file; `null`: it was not told. */
  readonly remoteId: string | null;
  readonly verdict: Verdict | null;
  readonly sentAtMs: number | null;
  /** When the platform is asked next; `null`: there is nothing to ask. */
  readonly askAtMs: number | null;
  /** When it answered last. */
  readonly askedAtMs: number | null;
  readonly losses: number;
  readonly isMarkDue: boolean;
  /** Whether the mark of the content was set. */
  readonly isMarked: boolean;
  /** Digest of the settings that a change in place may have told. */
  readonly changing: string | null;
  readonly differs: Difference | null;
}

/** A file of which the platform has not said for too long what became of it. */
export interface Overdue {
  readonly source: string;
  readonly path: string;
  readonly key: string;
  /** What is wrong with it. */
  readonly reason: string;
}

/** How a file was lost on the platform. `resendAtMs`: epoch milliseconds. */
export interface RecordedLoss {
  readonly state: 'failed' | 'refused';
  readonly reason: string;
  readonly resendAtMs: number | null;
}

/** How a file was found on the platform. */
export interface FoundFile {
  /** The platform's id of the file. */
  readonly remoteId: string;
  /** What became of it; `null`: that is not final. */
  readonly verdict: Verdict | null;
  /** Whether it carries the mark of its content. */
  readonly isMarked: boolean;
}

/** An operation that was not served when it was asked last. `askedAtMs`: epoch milliseconds. */
export interface UnservedOperation {
  readonly reason: string;
  readonly askedAtMs: number;
  /** Whether only the token of then may not ask for it. */
  readonly isByToken: boolean;
}

/** A row of the table `file`, by the key of a target. */
interface Row {
  readonly target: number;
  readonly key: FileKey;
}

/** A file that the platform has as it is here, though nothing was on record of it. All times in epoch milliseconds. */
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
  /** When the platform is asked next what became of it; `null`: it has said so. */
  readonly askAtMs: number | null;
  readonly expiresAtMs: number | null;
  readonly renewAtMs: number | null;
}

/** What a change in place came to. All times in epoch milliseconds. */
export interface ChangedFile {
  readonly settingsDigest: string;
  readonly expiresAtMs: number | null;
  readonly renewAtMs: number | null;
  readonly verdict: Verdict | null;
  /** When the platform is asked next what became of it; `null`: it has said so. */
  readonly askAtMs: number | null;
  /** Whether it was told the mark of the content. */
  readonly isMarked: boolean;
}
/** One sending of a file: what the platform says of it counts for no other. `sentAtMs`: see `Unconfirmed`. */
export interface Sending extends Row {
  readonly remoteId: string;
  readonly sentAtMs: number;
}

/** Of a row that the platform is to be asked about. */
const IS_ASKED = `ask_at IS NOT NULL AND state = 'synced' AND remote_id IS NOT NULL AND sha256 IS NOT NULL
  AND sent_at IS NOT NULL`;

/** Of a row whose sending has not been overtaken by another. */
const IS_SENDING = `target = ? AND key = ? AND remote_id = ? AND sent_at = ? AND state = 'synced'`;

/** The platform has not said for good what became of it. */
const IS_UNCONFIRMED = `${IS_ASKED} AND verdict IS NULL AND absence IS NULL`;

/** What the platform has of the files that were sent, as far as it was asked. Methods throw `StateFileError`. */
export class RemoteReader {
  protected readonly query: Query;
  /** Settings that were asked for: they are about as many as rules, and what a digest stands for never changes. */
  readonly #told = new Map<string, ToldSettings>();

  constructor(query: Query) {
    this.query = query;
  }

  /** What is known of the file of a key; `null`: there is no record of it. */
  find({ target, key }: Row): RemoteFile | null {
    const [row] = this.query(
      `SELECT remote_id, verdict, sent_at, ask_at, asked_at, losses, mark_due, marked, changing, differs
       FROM file
       WHERE target = ? AND key = ?`,
      ...[target, key],
    );
    if (row === undefined) return null;
    const [remoteId, verdict, sentAtMs, askAtMs, askedAtMs, losses, isMarkDue, isMarked, changing, differs] =
      row;
    mustMakeSense([remoteId, changing].every((value) => value === null || isText(value)));
    mustMakeSense([sentAtMs, askAtMs, askedAtMs].every((value) => value === null || isMoment(value)));
    mustMakeSense(isCount(losses) && isVerdict(verdict) && isDifference(differs));
    return {
      remoteId: remoteId as string | null,
      verdict,
      sentAtMs: sentAtMs as number | null,
      askAtMs: askAtMs as number | null,
      askedAtMs: askedAtMs as number | null,
      losses,
      isMarkDue: isMarkDue === 1,
      isMarked: isMarked === 1,
      changing: changing as string | null,
      differs,
    };
  }

  /** Files of a target that the platform is to be asked about by a moment, the longest due first: at most `limit`. */
  due(target: number, untilMs: number, limit: number): Unconfirmed[] {
    const rows = this.query(
      `SELECT key, source, path, remote_id, size_bytes, settings, sha256, sent_at, losses, mark_due, verdict
       FROM file INDEXED BY file_ask
       WHERE target = ? AND ask_at <= ? AND ${IS_ASKED} ORDER BY ask_at LIMIT ?`,
      ...[target, untilMs, limit],
    );
    return rows.map(toUnconfirmed);
  }

  /** When the platform is to be asked about files of a target, epoch milliseconds, in order: the first `limit`. */
  askTimes(target: number, limit: number): number[] {
    const rows = this.query(
      `SELECT ask_at FROM file INDEXED BY file_ask WHERE target = ? AND ${IS_ASKED} ORDER BY ask_at LIMIT ?`,
      ...[target, limit],
    );
    const times = rows.map(([atMs]) => atMs);
    mustMakeSense(times.every(isMoment));
    return times;
  }

  /** How many files of a target wait for the platform to say what became of them. */
  countUnconfirmed(target: number): number {
    const [row] = this.query(
      `SELECT count(*) FROM file INDEXED BY file_ask WHERE target = ? AND ${IS_UNCONFIRMED}`,
      target,
    );
    return Number(row?.[0]);
  }

  /** Files of a target of which the platform has not said for too long what became of them, with what is wrong: at most `limit`. */
  overdue(target: number, limit: number): Overdue[] {
    const rows = this.query(
      `SELECT source, path, key, failure FROM file INDEXED BY file_ask
       WHERE target = ? AND ${IS_UNCONFIRMED} AND failure IS NOT NULL ORDER BY ask_at LIMIT ?`,
      ...[target, limit],
    );
    mustMakeSense(rows.every((row) => row.every(isText)));
    return rows.map(([source, path, key, reason]) => ({ source, path, key, reason }) as Overdue);
  }

  /** Files of a target that the platform lost and that are to be sent again by a moment: at most `limit`. */
  resendsDue(target: number, untilMs: number, limit: number): Pick<Unconfirmed, 'key' | 'source' | 'path'>[] {
    const rows = this.query(
      `SELECT key, source, path FROM file INDEXED BY file_ask
       WHERE target = ? AND ask_at <= ? AND state = 'failed' ORDER BY ask_at LIMIT ?`,
      ...[target, untilMs, limit],
    );
    mustMakeSense(rows.every((row) => row.every(isText)));
    return rows.map(
      ([key, source, path]) => ({ key, source, path }) as Pick<Unconfirmed, 'key' | 'source' | 'path'>,
    );
  }

  /** Whether a file was not sent anew since. */
  isCurrent(sending: Sending): boolean {
    return this.query(`SELECT 1 FROM file WHERE ${IS_SENDING}`, ...valuesOf(sending)).length > 0;
  }

  /** What the platform was told under a digest of settings; `null`: that is not known any more. */
  toldSettings(digest: string): ToldSettings | null {
    const known = this.#told.get(digest);
    if (known !== undefined) return known;
    const [row] = this.query('SELECT told, json_valid(told) FROM told_settings WHERE digest = ?', digest);
    if (row === undefined) return null;
    mustMakeSense(isText(row[0]) && row[1] === 1);
    const told: unknown = JSON.parse(row[0]);
    mustMakeSense(isToldSettings(told));
    this.#told.set(digest, told);
    return told;
  }

  /**
   * Whether what the platform has of a source is to be taken over: nothing is on record of it there, or the pass that took it
   * over did not come to its end.
   */
  isAdoptionDue(target: number, source: string): boolean {
    const known = [target, source];
    const [begun] = this.query('SELECT done FROM adoption WHERE target = ? AND source = ?', ...known);
    if (begun !== undefined) return begun[0] === 0;
    return this.query('SELECT 1 FROM file WHERE target = ? AND source = ? LIMIT 1', ...known).length === 0;
  }

  /** An operation that was not served; `null`: it was, or nobody asked. */
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

  /** The last comparison of all that the platform has; `summary` is JSON. */
  verification(): { readonly finishedAtMs: number; readonly summary: string } | null {
    const [row] = this.query('SELECT finished_at, summary, json_valid(summary) FROM verification');
    if (row === undefined) return null;
    const [finishedAtMs, summary, isJson] = row;
    mustMakeSense(isMoment(finishedAtMs) && isText(summary) && isJson === 1);
    return { finishedAtMs, summary };
  }
}

/** The same, open for writing. */
export class RemoteStore extends RemoteReader {
  readonly #write: Change;
  readonly #durable: () => Promise<void>;
  /** Digests whose settings are on record. */
  readonly #known = new Set<string>();

  /** @param durable - resolves once all that was written so far is on disk. */
  constructor(query: Query, write: Change, durable: () => Promise<void>) {
    super(query);
    this.#write = write;
    this.#durable = durable;
  }

  /** Remembers what the platform is told under a digest of settings. */
  rememberSettings(digest: string, told: () => ToldSettings): void {
    if (this.#known.has(digest)) return;
    this.#known.add(digest);
    this.#write(
      'INSERT INTO told_settings (digest, told) VALUES (?, ?) ON CONFLICT DO NOTHING',
      ...[digest, JSON.stringify(told())],
    );
  }

  /** Asks again later, unless the file was sent anew meanwhile. `trouble`: what is wrong with it by now. */
  askAgain(
    sending: Sending,
    { askAtMs, trouble }: { readonly askAtMs: number; readonly trouble: string | null },
    nowMs: number,
  ): void {
    this.#write(
      `UPDATE file SET ask_at = ?, asked_at = ?, failure = ? WHERE ${IS_SENDING}`,
      ...[askAtMs, nowMs, trouble, ...valuesOf(sending)],
    );
  }

  /** Puts off what is to be done about a file, unless it was sent anew meanwhile. */
  postpone(sending: Sending, askAtMs: number): void {
    this.#write(`UPDATE file SET ask_at = ? WHERE ${IS_SENDING}`, askAtMs, ...valuesOf(sending));
  }

  /** Asks no more about a file, unless it was sent anew meanwhile. */
  stopAsking(sending: Sending): void {
    this.#write(`UPDATE file SET ask_at = NULL, failure = NULL WHERE ${IS_SENDING}`, ...valuesOf(sending));
  }

  /** Asks about all files of a target that are to be asked about by a moment at the latest, epoch milliseconds. */
  askBy(target: number, atMs: number): void {
    this.#write('UPDATE file SET ask_at = ? WHERE target = ? AND ask_at > ?', atMs, target, atMs);
  }

  /**
   * Records what became of a file for good, unless it was sent anew meanwhile; where its mark is still to be set that is
   * due now. `reason`: why it is not searchable.
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
      ...[verdict, reason, markAtMs, nowMs, ...valuesOf(sending)],
    );
  }

  /** Takes a verdict back, unless the file was sent anew meanwhile: the platform is asked again what became of it. */
  withdrawVerdict(sending: Sending, askAtMs: number): void {
    this.#write(
      `UPDATE file SET verdict = NULL, ask_at = ? WHERE ${IS_SENDING}`,
      ...[askAtMs, ...valuesOf(sending)],
    );
  }

  /**
   * Records that the platform does not have what the store took, unless the file was sent anew meanwhile. `resendAtMs`:
   * when it is to be sent again; `null`: with the next rescan, if it is not refused.
   */
  recordLoss(sending: Sending, { state, reason, resendAtMs }: RecordedLoss, nowMs: number): void {
    this.#write(
      `UPDATE file SET state = ?, failure = ?, losses = losses + 1, verdict = NULL, ask_at = ?, asked_at = ?,
         changed_at = ? WHERE ${IS_SENDING}`,
      ...[state, reason, resendAtMs, nowMs, nowMs, ...valuesOf(sending)],
    );
  }

  /** A file that is to be sent again is in hand. */
  takeResend({ target, key }: Row): void {
    this.#write(
      "UPDATE file SET ask_at = NULL WHERE target = ? AND key = ? AND state = 'failed'",
      ...[target, key],
    );
  }

  /** Records that the mark of a content was set, or that it never will be, unless the file was sent anew meanwhile. */
  recordMarked(sending: Sending, isMarked: boolean): void {
    this.#write(
      `UPDATE file SET mark_due = 0, marked = max(marked, ?), ask_at = NULL WHERE ${IS_SENDING}`,
      ...[Number(isMarked), ...valuesOf(sending)],
    );
  }

  /** Records how a file was found on the platform that is there as it should be. `verdict`: `null` where it is not known. */
  recordFound({ target, key }: Row, { remoteId, verdict, isMarked }: FoundFile, nowMs: number): void {
    this.#write(
      `UPDATE file SET remote_id = ?1, verdict = coalesce(?2, verdict), asked_at = ?3, marked = max(marked, ?4),
         failure = iif(?2 IS NULL, failure, NULL),
         mark_due = iif(?4, 0, mark_due), ask_at = iif(?2 IS NULL, coalesce(ask_at, ?3), NULL)
       WHERE target = ?5 AND key = ?6 AND state = 'synced'`,
      ...[remoteId, verdict, nowMs, Number(isMarked), target, key],
    );
  }

  /** Records what the platform was found to have otherwise; `null`: nothing any more. */
  recordDifference({ target, key }: Row, differs: Difference | null): void {
    this.#write('UPDATE file SET differs = ? WHERE target = ? AND key = ?', differs, target, key);
  }

  /** Notes what a file is about to be told in place; durable once the promise resolves, which must be before it is. */
  async beginChanging({ target, key }: Row, settingsDigest: string): Promise<void> {
    this.#write('UPDATE file SET changing = ? WHERE target = ? AND key = ?', settingsDigest, target, key);
    await this.#durable();
  }

  /** Records that a file was told other settings, or another expiry, and has the content that it had. */
  recordChanged({ target, key }: Row, changed: ChangedFile, nowMs: number): void {
    const { settingsDigest, expiresAtMs, renewAtMs, verdict, askAtMs, isMarked } = changed;
    this.#write(
      `UPDATE file SET settings = ?, expires_at = ?, renew_at = ?, verdict = ?, ask_at = ?, absence = NULL, mark_due = 0,
         marked = max(marked, ?), changing = NULL, differs = NULL, changed_at = ? WHERE target = ? AND key = ?`,
      ...[settingsDigest, expiresAtMs, renewAtMs, verdict, askAtMs, Number(isMarked), nowMs, target, key],
    );
  }

  /** Records a file that the platform had already. */
  recordAdopted({ target, key }: Row, adopted: AdoptedFile, nowMs: number): void {
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

  /** Notes that what the platform has of a source is being taken over. */
  beginAdoption(target: number, source: string): void {
    this.#write(
      'INSERT INTO adoption (target, source, done) VALUES (?, ?, 0) ON CONFLICT DO NOTHING',
      ...[target, source],
    );
  }

  /** Notes that all that the platform has of a source was taken over. */
  endAdoption(target: number, source: string): void {
    this.#write('UPDATE adoption SET done = 1 WHERE target = ? AND source = ?', target, source);
  }

  /** Remembers that an operation was not served. */
  noteUnserved(target: number, operation: OptionalOperation, unserved: UnservedOperation): void {
    const { reason, askedAtMs, isByToken } = unserved;
    this.#write(
      'INSERT OR REPLACE INTO unserved_operation (target, name, reason, asked_at, by_token) VALUES (?, ?, ?, ?, ?)',
      ...[target, operation, reason, askedAtMs, Number(isByToken)],
    );
  }

  /** Forgets that an operation was not served. */
  noteServed(target: number, operation: OptionalOperation): void {
    this.#write('DELETE FROM unserved_operation WHERE target = ? AND name = ?', target, operation);
  }

  /** Remembers a comparison of all that the platform has; `summary` is JSON. */
  saveVerification(finishedAtMs: number, summary: string): void {
    this.#write(
      'INSERT OR REPLACE INTO verification (only_row, finished_at, summary) VALUES (1, ?, ?)',
      ...[finishedAtMs, summary],
    );
  }
}

function valuesOf({ target, key, remoteId, sentAtMs }: Sending): SqlValue[] {
  return [target, key, remoteId, sentAtMs];
}

function toUnconfirmed(row: readonly unknown[]): Unconfirmed {
  const [
    key,
    source,
    path,
    remoteId,
    sizeBytes,
    settingsDigest,
    sha256,
    sentAtMs,
    losses,
    isMarkDue,
    verdict,
  ] = row;
  mustMakeSense([key, source, path, remoteId, settingsDigest].every(isText));
  mustMakeSense(isMoment(sentAtMs) && sha256 instanceof Uint8Array);
  mustMakeSense(isCount(sizeBytes) && isCount(losses) && isVerdict(verdict));
  return {
    key: key as FileKey,
    source: source as string,
    path: path as RelativePath,
    remoteId: remoteId as string,
    sizeBytes,
    settingsDigest: settingsDigest as string,
    sha256: Buffer.from(sha256),
    sentAtMs,
    losses,
    isMarkDue: isMarkDue === 1,
    verdict,
  };
}
