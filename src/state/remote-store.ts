import type { RelativePath } from '../domain/brands.ts';
import type { OptionalOperation } from '../domain/file-catalog.ts';
import type { Fingerprint } from '../domain/fingerprint.ts';
import type { Difference, Verdict } from '../domain/record.ts';
import type { ToldSettings } from '../domain/settings.ts';
import type { Query } from './database.ts';
import type { Change } from './notices.ts';
import { IS_SENDING, RemoteReader, valuesOf, type Sending, type UnservedOperation } from './remote.ts';
import type { RowId } from './state-reader.ts';

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

/** What the state file knows of the files on the platform, open for writing. Methods throw `StateFileError`. */
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

  /** Asks again later, unless the file was sent again in the meantime. `trouble`: what is wrong with it by now. */
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

  /** Puts off what is to be done about a file, unless it was sent again in the meantime. */
  postpone(sending: Sending, askAtMs: number): void {
    this.#write(`UPDATE file SET ask_at = ? WHERE ${IS_SENDING}`, askAtMs, ...valuesOf(sending));
  }

  /** Asks no more about a file, unless it was sent again in the meantime. */
  stopAsking(sending: Sending): void {
    this.#write(`UPDATE file SET ask_at = NULL, failure = NULL WHERE ${IS_SENDING}`, ...valuesOf(sending));
  }

  /** Asks about all files of a target that are to be asked about by a moment at the latest, epoch milliseconds. */
  askBy(target: number, atMs: number): void {
    this.#write('UPDATE file SET ask_at = ? WHERE target = ? AND ask_at > ?', atMs, target, atMs);
  }

  /**
   * Records the status of a file for good, unless it was sent again in the meantime; where its mark is still to be set that is
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

  /** Takes a verdict back, unless the file was sent again in the meantime: the platform is asked again what became of it. */
  withdrawVerdict(sending: Sending, askAtMs: number): void {
    this.#write(
      `UPDATE file SET verdict = NULL, ask_at = ? WHERE ${IS_SENDING}`,
      ...[askAtMs, ...valuesOf(sending)],
    );
  }

  /**
   * Records that the platform does not have what the store took, unless the file was sent again in the meantime. `resendAtMs`:
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
  takeResend({ target, key }: RowId): void {
    this.#write(
      "UPDATE file SET ask_at = NULL WHERE target = ? AND key = ? AND state = 'failed'",
      ...[target, key],
    );
  }

  /** Records that the mark of a content was set, or that it never will be, unless the file was sent again in the meantime. */
  recordMarked(sending: Sending, isMarked: boolean): void {
    this.#write(
      `UPDATE file SET mark_due = 0, marked = max(marked, ?), ask_at = NULL WHERE ${IS_SENDING}`,
      ...[Number(isMarked), ...valuesOf(sending)],
    );
  }

  /** Records how a file was found on the platform that is there as it should be. `verdict`: `null` where it is not known. */
  recordFound({ target, key }: RowId, { remoteId, verdict, isMarked }: FoundFile, nowMs: number): void {
    this.#write(
      `UPDATE file SET remote_id = ?1, verdict = coalesce(?2, verdict), asked_at = ?3, marked = max(marked, ?4),
         failure = iif(?2 IS NULL, failure, NULL),
         mark_due = iif(?4, 0, mark_due), ask_at = iif(?2 IS NULL, coalesce(ask_at, ?3), NULL)
       WHERE target = ?5 AND key = ?6 AND state = 'synced'`,
      ...[remoteId, verdict, nowMs, Number(isMarked), target, key],
    );
  }

  /** Records what the platform was found to have otherwise; `null`: nothing any more. */
  recordDifference({ target, key }: RowId, differs: Difference | null): void {
    this.#write('UPDATE file SET differs = ? WHERE target = ? AND key = ?', differs, target, key);
  }

  /** Notes what a file is about to be told in place; durable once the promise resolves, which must be before it is. */
  async beginChanging({ target, key }: RowId, settingsDigest: string): Promise<void> {
    this.#write('UPDATE file SET changing = ? WHERE target = ? AND key = ?', settingsDigest, target, key);
    await this.#durable();
  }

  /** Records that a file was told other settings, or another expiry, and has the content that it had. */
  recordChanged({ target, key }: RowId, changed: ChangedFile, nowMs: number): void {
    const { settingsDigest, expiresAtMs, renewAtMs, verdict, askAtMs, isMarked } = changed;
    this.#write(
      `UPDATE file SET settings = ?, expires_at = ?, renew_at = ?, verdict = ?, ask_at = ?, absence = NULL, mark_due = 0,
         marked = max(marked, ?), changing = NULL, differs = NULL, changed_at = ? WHERE target = ? AND key = ?`,
      ...[settingsDigest, expiresAtMs, renewAtMs, verdict, askAtMs, Number(isMarked), nowMs, target, key],
    );
  }

  /** Records a file that the platform had already. */
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
