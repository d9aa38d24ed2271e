import type { FileKey, RelativePath } from '../domain/brands.ts';
import type { OptionalOperation } from '../domain/file-catalog.ts';
import type { Difference, Verdict } from '../domain/record.ts';
import { isToldSettings, type ToldSettings } from '../domain/settings.ts';
import type { Query, SqlValue } from './database.ts';
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
  /** Of the content that was sent last, or that an attempt was begun with since. */
  readonly sizeBytes: number;
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

/** An operation that was not served when it was asked last. `askedAtMs`: epoch milliseconds. */
export interface UnservedOperation {
  readonly reason: string;
  readonly askedAtMs: number;
  /** Whether only the token of then may not ask for it. */
  readonly isByToken: boolean;
}

/** A row of the table `file`, by the key of a target. */
export interface Row {
  readonly target: number;
  readonly key: FileKey;
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
export const IS_SENDING = `target = ? AND key = ? AND remote_id = ? AND sent_at = ? AND state = 'synced'`;

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
      `SELECT remote_id, size_bytes, verdict, sent_at, ask_at, asked_at, losses, mark_due, marked, changing, differs FROM file
       WHERE target = ? AND key = ?`,
      ...[target, key],
    );
    if (row === undefined) return null;
    const [remoteId, sizeBytes, verdict, sentAtMs, askAtMs, askedAtMs, losses, ...rest] = row;
    const [isMarkDue, isMarked, changing, differs] = rest;
    mustMakeSense([remoteId, changing].every((value) => value === null || isText(value)));
    mustMakeSense([sentAtMs, askAtMs, askedAtMs].every((value) => value === null || isMoment(value)));
    mustMakeSense(isCount(sizeBytes) && isCount(losses) && isVerdict(verdict) && isDifference(differs));
    return {
      remoteId: remoteId as string | null,
      sizeBytes,
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

  /** How many files of a target wait for the platform to say their status. */
  countUnconfirmed(target: number): number {
    const [row] = this.query(
      `SELECT count(*) FROM file INDEXED BY file_ask WHERE target = ? AND ${IS_UNCONFIRMED}`,
      target,
    );
    return Number(row?.[0]);
  }

  /** Files of a target of which the platform has not said for too long their status, with what is wrong: at most `limit`. */
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
      `SELECT key, source, path FROM file INDEXED BY file_resend
       WHERE target = ? AND ask_at <= ? AND state = 'failed' ORDER BY ask_at LIMIT ?`,
      ...[target, untilMs, limit],
    );
    mustMakeSense(rows.every((row) => row.every(isText)));
    return rows.map(
      ([key, source, path]) => ({ key, source, path }) as Pick<Unconfirmed, 'key' | 'source' | 'path'>,
    );
  }

  /** Whether a file was not sent again since. */
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

/** The values of `IS_SENDING`. */
export function valuesOf({ target, key, remoteId, sentAtMs }: Sending): SqlValue[] {
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
