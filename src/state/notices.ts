import type { Query, SqlValue } from './database.ts';

/** Changes the state file. Throws `StateFileError`. */
export type Change = (sql: string, ...values: SqlValue[]) => void;

/** Files of a source that are not on the platform as they are here, with the first of them in path order. */
export interface Astray {
  readonly source: string;
  readonly count: number;
  readonly path: string;
  readonly reason: string;
}

/** What people were told last of a trouble, and how large it was then; `null`: it was over. `toldAtMs`: epoch milliseconds. */
export interface NoticeRecord {
  readonly toldAtMs: number;
  readonly count: number | null;
}

/** A file that is to be announced. `notedAtMs`: epoch milliseconds. */
export interface PendingAnnouncement {
  readonly target: number;
  readonly key: string;
  readonly sha256: Buffer;
  /** Where everybody can read the content. */
  readonly url: string;
  readonly notedAtMs: number;
}

/** What the state file knows of what people are told. All times in epoch milliseconds. Methods throw `StateFileError`. */
export class NoticeReader {
  protected readonly query: Query;

  constructor(query: Query) {
    this.query = query;
  }

  /**
   * The files of some sources that are not in sync, counted, each source at its target. Of those on their way only those
   * count that failed before. Cheap while there are few.
   */
  astray(sources: ReadonlyMap<string, number>): Astray[] {
    const rows = this.query(
      `WITH current AS (SELECT value ->> 0 AS source, value ->> 1 AS target FROM json_each(?)),
       astray AS (
         SELECT source, path, failure AS reason FROM file INDEXED BY file_failure JOIN current USING (source, target)
           WHERE failure IS NOT NULL AND (absence IS NULL OR (state = 'removing' AND absence = 'removed'))
         UNION ALL SELECT source, path, reason FROM problem JOIN current USING (source))
       SELECT source, count(DISTINCT path), min(path), reason FROM astray GROUP BY source`,
      JSON.stringify([...sources]),
    );
    return rows.map(([source, count, path, reason]) => ({ source, count, path, reason }) as Astray);
  }

  /** How many files were sent since a moment that are in sync still, and how many bytes they are. Reads every row. */
  sentSince(sinceMs: number): { readonly files: number; readonly bytes: number } {
    const [row] = this.query(
      `SELECT count(*), coalesce(sum(size_bytes), 0) FROM file
       WHERE state = 'synced' AND absence IS NULL AND changed_at >= ?`,
      sinceMs,
    );
    return { files: Number(row?.[0]), bytes: Number(row?.[1]) };
  }

  /** What people were told, by subject. */
  told(): Map<string, NoticeRecord> {
    const rows = this.query('SELECT subject, told_at, size FROM told');
    return new Map(
      rows.map(([subject, toldAtMs, count]) => [
        subject as string,
        { toldAtMs: toldAtMs as number, count: count as number | null },
      ]),
    );
  }

  /** The conversation that was created for a purpose, and whether a message ever arrived there. */
  conversation(purpose: string): { readonly id: string; readonly isProven: boolean } | null {
    const [row] = this.query('SELECT id, proven FROM conversation WHERE purpose = ?', purpose);
    return row === undefined ? null : { id: row[0] as string, isProven: row[1] === 1 };
  }

  /** The files that are to be announced, the oldest first. */
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

  /** Whether a content was announced, or is to be. */
  isAnnounced(target: number, sha256: Buffer): boolean {
    return (
      this.query('SELECT 1 FROM announcement WHERE target = ? AND sha256 = ?', target, sha256).length > 0
    );
  }
}

/** The same, to be written as well. */
export class NoticeStore extends NoticeReader {
  readonly #change: Change;

  constructor(query: Query, change: Change) {
    super(query);
    this.#change = change;
  }

  /** Remembers what people were told of a subject; `null` forgets it. */
  saveTold(subject: string, told: NoticeRecord | null): void {
    if (told === null) this.#change('DELETE FROM told WHERE subject = ?', subject);
    else
      this.#change(
        'INSERT OR REPLACE INTO told (subject, told_at, size) VALUES (?, ?, ?)',
        ...[subject, told.toldAtMs, told.count],
      );
  }

  /** Remembers the conversation that was created for a purpose. */
  saveConversation(purpose: string, id: string): void {
    this.#change('INSERT OR REPLACE INTO conversation (purpose, id, proven) VALUES (?, ?, 0)', purpose, id);
  }

  /** Notes that a message has arrived in a conversation. */
  proveConversation(purpose: string): void {
    this.#change('UPDATE conversation SET proven = 1 WHERE purpose = ?', purpose);
  }

  /** Forgets a conversation: another one is created for its purpose. */
  forgetConversation(purpose: string): void {
    this.#change('DELETE FROM conversation WHERE purpose = ?', purpose);
  }

  /** Notes that a file is to be announced. What is waiting of an older content of it is not announced any more. */
  addAnnouncement({ target, key, sha256, url, notedAtMs }: PendingAnnouncement): void {
    this.#change('UPDATE announcement SET url = NULL WHERE target = ? AND key = ?', target, key);
    this.#change(
      'INSERT OR REPLACE INTO announcement (target, sha256, key, url, noted_at) VALUES (?, ?, ?, ?, ?)',
      ...[target, sha256, key, url, notedAtMs],
    );
  }

  /** Notes that a file was announced, or will not be. */
  closeAnnouncement({ target, sha256 }: Pick<PendingAnnouncement, 'target' | 'sha256'>): void {
    this.#change('UPDATE announcement SET url = NULL WHERE target = ? AND sha256 = ?', target, sha256);
  }
}
