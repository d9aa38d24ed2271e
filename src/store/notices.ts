import type { Obstacle } from '../domain/obstacle.ts';
import { REMOVAL_FAILED } from './file-reader.ts';
import type { Change, Query } from './database.ts';
import { reasonOf } from './problems.ts';

/** The files of a source that are not in sync: their number, and the first in path order with its reason. */
export interface FailingFiles {
  readonly source: string;
  readonly count: number;
  readonly path: string;
  /** See `Failure`. */
  readonly reason: string | Obstacle;
}

/** The last notification about a subject. `count`: the files it named; `null`: it said that the trouble was over. */
export interface NoticeRecord {
  readonly toldAtMs: number;
  readonly count: number | null;
}

/** A file that waits to be announced. `notedAtMs`: epoch milliseconds. */
export interface PendingAnnouncement {
  readonly target: number;
  readonly key: string;
  readonly sha256: Buffer;
  /** The public address of the content. */
  readonly url: string;
  readonly notedAtMs: number;
}

/** Reads what notifications need. All times in epoch milliseconds. Methods throw `StateFileError`. */
export class NoticeReader {
  protected readonly query: Query;

  constructor(query: Query) {
    this.query = query;
  }

  /**
   * Counts the files of sources, each at its target, that are not in sync. Files being sent count only if they failed before,
   * and files that only a pause holds back do not count. Cheap while there are few.
   */
  failingFiles(sources: ReadonlyMap<string, number>): FailingFiles[] {
    const rows = this.query(
      `WITH current AS (SELECT value ->> 0 AS source, value ->> 1 AS target FROM json_each(?)),
       astray AS (
         SELECT source, path, failure AS reason, iif(state = 'removing', 'removal', 'text') AS form
           FROM file INDEXED BY file_failure JOIN current USING (source, target)
           WHERE failure IS NOT NULL AND (absence IS NULL OR ${REMOVAL_FAILED})
         UNION ALL SELECT source, path, reason, 'problem' FROM problem JOIN current USING (source)
           WHERE reason ->> '$.cause.kind' IS NOT 'paused')
       SELECT source, count(DISTINCT path), min(path), reason, form FROM astray GROUP BY source`,
      JSON.stringify([...sources]),
    );
    return rows.map(
      ([source, count, path, text, form]) =>
        ({ source, count, path, reason: reasonOf(text, form) }) as FailingFiles,
    );
  }

  /** Counts the files sent since a moment that are still in sync, and their bytes. Reads every row. */
  sentSince(sinceMs: number): { readonly files: number; readonly bytes: number } {
    const [row] = this.query(
      `SELECT count(*), coalesce(sum(size_bytes), 0) FROM file
       WHERE state = 'synced' AND absence IS NULL AND changed_at >= ?`,
      sinceMs,
    );
    return { files: Number(row?.[0]), bytes: Number(row?.[1]) };
  }

  /** The last notification about each subject. */
  told(): Map<string, NoticeRecord> {
    const rows = this.query('SELECT subject, told_at, size FROM told');
    return new Map(
      rows.map(([subject, toldAtMs, count]) => [
        subject as string,
        { toldAtMs: toldAtMs as number, count: count as number | null },
      ]),
    );
  }

  /** The conversation created for a purpose. `isProven`: a message has arrived there. */
  conversation(purpose: string): { readonly id: string; readonly isProven: boolean } | null {
    const [row] = this.query('SELECT id, proven FROM conversation WHERE purpose = ?', purpose);
    return row === undefined ? null : { id: row[0] as string, isProven: row[1] === 1 };
  }

  /** The oldest first. */
  pendingAnnouncements(): PendingAnnouncement[] {
    const rows = this.query(
      `SELECT target, key, sha256, url, noted_at FROM announcement WHERE url IS NOT NULL ORDER BY noted_at, key`,
    );
    return rows.map(([target, key, sha256, url, notedAtMs]) => ({
      target: target as number,
      key: key as string,
      sha256: Buffer.from(sha256 as Uint8Array),
      url: url as string,
      notedAtMs: notedAtMs as number,
    }));
  }

  /** Returns whether a content was announced, or waits to be. */
  isAnnounced(target: number, sha256: Buffer): boolean {
    return (
      this.query('SELECT 1 FROM announcement WHERE target = ? AND sha256 = ?', target, sha256).length > 0
    );
  }
}

export class NoticeStore extends NoticeReader {
  readonly #change: Change;

  constructor(query: Query, change: Change) {
    super(query);
    this.#change = change;
  }

  /** Records the last notification about a subject; `null` forgets it. */
  saveTold(subject: string, told: NoticeRecord | null): void {
    if (told === null) this.#change('DELETE FROM told WHERE subject = ?', subject);
    else
      this.#change(
        'INSERT OR REPLACE INTO told (subject, told_at, size) VALUES (?, ?, ?)',
        ...[subject, told.toldAtMs, told.count],
      );
  }

  saveConversation(purpose: string, id: string): void {
    this.#change('INSERT OR REPLACE INTO conversation (purpose, id, proven) VALUES (?, ?, 0)', purpose, id);
  }

  /** Records that a message has arrived in a conversation. */
  proveConversation(purpose: string): void {
    this.#change('UPDATE conversation SET proven = 1 WHERE purpose = ?', purpose);
  }

  /** Forgets a conversation: the next message creates another one. */
  forgetConversation(purpose: string): void {
    this.#change('DELETE FROM conversation WHERE purpose = ?', purpose);
  }

  /** Adds a file to be announced, in place of an older content of it that still waits. */
  addAnnouncement({ target, key, sha256, url, notedAtMs }: PendingAnnouncement): void {
    this.#change('UPDATE announcement SET url = NULL WHERE target = ? AND key = ?', target, key);
    this.#change(
      'INSERT OR REPLACE INTO announcement (target, sha256, key, url, noted_at) VALUES (?, ?, ?, ?, ?)',
      ...[target, sha256, key, url, notedAtMs],
    );
  }

  /** Records that a file was announced, or never will be. */
  closeAnnouncement({ target, sha256 }: Pick<PendingAnnouncement, 'target' | 'sha256'>): void {
    this.#change('UPDATE announcement SET url = NULL WHERE target = ? AND sha256 = ?', target, sha256);
  }
}
