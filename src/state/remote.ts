import type { FileKey, RelativePath } from '../domain/brands.ts';
import type { OptionalOperation } from '../domain/file-catalog.ts';
import type { Difference, Verdict } from '../domain/record.ts';
import { isToldSettings, type ToldSettings } from '../domain/settings.ts';
import type { Query } from './database.ts';
import type { Change } from './notices.ts';
import { isMoment, isText, mustMakeSense } from './soundness.ts';

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
  /** Digest of the settings that a change in place may have told. */
  readonly changing: string | null;
  readonly differs: Difference | null;
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
}

/** A row of the table `file`, by the key of a target. */
interface Row {
  readonly target: number;
  readonly key: FileKey;
}

/** What the platform has of the files that were sent, as far as it was asked. Methods throw `StateFileError`. */
export class RemoteReader {
  protected readonly query: Query;

  constructor(query: Query) {
    this.query = query;
  }

  /** What is known of the file of a key; `null`: there is no record of it. */
  find({ target, key }: Row): RemoteFile | null {
    const [row] = this.query(
      `SELECT remote_id, verdict, sent_at, ask_at, asked_at, losses, mark_due, changing, differs FROM file
       WHERE target = ? AND key = ?`,
      ...[target, key],
    );
    if (row === undefined) return null;
    const [remoteId, verdict, sentAtMs, askAtMs, askedAtMs, losses, isMarkDue, changing, differs] = row;
    mustMakeSense([remoteId, changing].every((value) => value === null || isText(value)));
    mustMakeSense([sentAtMs, askAtMs, askedAtMs].every((value) => value === null || isMoment(value)));
    return {
      remoteId: remoteId as string | null,
      verdict: verdict as Verdict | null,
      sentAtMs: sentAtMs as number | null,
      askAtMs: askAtMs as number | null,
      askedAtMs: askedAtMs as number | null,
      losses: Number(losses),
      isMarkDue: isMarkDue === 1,
      changing: changing as string | null,
      differs: differs as Difference | null,
    };
  }

  /** Files of a target that the platform is to be asked about by a moment, the longest due first: at most `limit`. */
  due(target: number, untilMs: number, limit: number): Unconfirmed[] {
    const rows = this.query(
      `SELECT key, source, path, remote_id, size_bytes, settings, sha256, sent_at, losses, mark_due, verdict
       FROM file INDEXED BY file_ask
       WHERE target = ? AND ask_at <= ? AND state = 'synced' AND remote_id IS NOT NULL AND sha256 IS NOT NULL
       ORDER BY ask_at LIMIT ?`,
      ...[target, untilMs, limit],
    );
    return rows.map(toUnconfirmed);
  }

  /** When the platform is asked next about a file of a target, epoch milliseconds; `null`: there is nothing to ask. */
  nextAskAtMs(target: number): number | null {
    const [row] = this.query(
      'SELECT min(ask_at) FROM file INDEXED BY file_ask WHERE target = ? AND ask_at IS NOT NULL',
      target,
    );
    const atMs = row?.[0] ?? null;
    mustMakeSense(atMs === null || isMoment(atMs));
    return atMs;
  }

  /** What the platform was told under a digest of settings; `null`: that is not known any more. */
  toldSettings(digest: string): ToldSettings | null {
    const [row] = this.query('SELECT told, json_valid(told) FROM told_settings WHERE digest = ?', digest);
    if (row === undefined) return null;
    mustMakeSense(isText(row[0]) && row[1] === 1);
    const told: unknown = JSON.parse(row[0]);
    mustMakeSense(isToldSettings(told));
    return told;
  }

  /** An operation that was not served; `null`: it was, or nobody asked. */
  unserved(target: number, operation: OptionalOperation): UnservedOperation | null {
    const [row] = this.query(
      'SELECT reason, asked_at FROM unserved_operation WHERE target = ? AND name = ?',
      ...[target, operation],
    );
    if (row === undefined) return null;
    const [reason, askedAtMs] = row;
    mustMakeSense(isText(reason) && isMoment(askedAtMs));
    return { reason, askedAtMs };
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
  /** Digests whose settings are on record. */
  readonly #known = new Set<string>();

  constructor(query: Query, write: Change) {
    super(query);
    this.#write = write;
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

  /** Asks again later, unless the file was sent anew meanwhile. */
  askAgain({ target, key }: Row, remoteId: string, askAtMs: number, nowMs: number): void {
    this.#write(
      `UPDATE file SET ask_at = ?, asked_at = ? WHERE target = ? AND key = ? AND remote_id = ? AND state = 'synced'`,
      ...[askAtMs, nowMs, target, key, remoteId],
    );
  }

  /**
   * Records what became of a file for good, unless it was sent anew meanwhile. `reason`: why it is not searchable.
   */
  recordVerdict(
    { target, key }: Row,
    remoteId: string,
    { verdict, reason }: { readonly verdict: Verdict; readonly reason: string | null },
    nowMs: number,
  ): void {
    this.#write(
      `UPDATE file SET verdict = ?, failure = ?, ask_at = NULL, asked_at = ?
       WHERE target = ? AND key = ? AND remote_id = ? AND state = 'synced'`,
      ...[verdict, reason, nowMs, target, key, remoteId],
    );
  }

  /** Records that the platform does not have what the store took, unless the file was sent anew meanwhile. */
  recordLoss(
    { target, key }: Row,
    remoteId: string,
    { state, reason }: { readonly state: 'failed' | 'refused'; readonly reason: string },
    nowMs: number,
  ): void {
    this.#write(
      `UPDATE file SET state = ?, failure = ?, losses = losses + 1, verdict = NULL, ask_at = NULL, asked_at = ?,
         changed_at = ? WHERE target = ? AND key = ? AND remote_id = ? AND state = 'synced'`,
      ...[state, reason, nowMs, nowMs, target, key, remoteId],
    );
  }

  /** Records that the mark of a content was set, unless the file was sent anew meanwhile. */
  recordMarked({ target, key }: Row, remoteId: string): void {
    this.#write(
      'UPDATE file SET mark_due = 0, marked = 1 WHERE target = ? AND key = ? AND remote_id = ?',
      ...[target, key, remoteId],
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

  /** Remembers that an operation was not served. */
  noteUnserved(target: number, operation: OptionalOperation, { reason, askedAtMs }: UnservedOperation): void {
    this.#write(
      'INSERT OR REPLACE INTO unserved_operation (target, name, reason, asked_at) VALUES (?, ?, ?, ?)',
      ...[target, operation, reason, askedAtMs],
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
  return {
    key: key as FileKey,
    source: source as string,
    path: path as RelativePath,
    remoteId: remoteId as string,
    sizeBytes: sizeBytes as number,
    settingsDigest: settingsDigest as string,
    sha256: Buffer.from(sha256),
    sentAtMs,
    losses: Number(losses),
    isMarkDue: isMarkDue === 1,
    verdict: verdict as Verdict | null,
  };
}
