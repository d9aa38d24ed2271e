import type { Database } from './database.ts';
import { buildFileQuery, type FileQuery } from './file-query.ts';
import type { StatusFacts } from './file-status.ts';
import { formatPosition } from './list-files-query.ts';
import { cutPage, type Page } from './paging.ts';

/** Who may read a file. Source: interface.md, Create or update a file. */
export type AccessPolicy = 'public_content' | 'integrations';

/** What is kept of a file beyond the columns that are searched for. */
export interface FileDetails {
  readonly contentType: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly accessPolicies: readonly AccessPolicy[];
  readonly publicImmediately: boolean;
  readonly indexing: Readonly<Record<string, unknown>> | null;
  readonly indexingStack: string;
  readonly owner: FileOwner;
}

/** The caller that created a file. Source: interface.md, File. */
export interface FileOwner {
  readonly type: 'bot' | 'integration';
  readonly id: string;
  readonly name: string;
  readonly alias: string;
}

/** A file as the emulator keeps it; times are epoch milliseconds. */
export interface StoredFile {
  readonly id: string;
  readonly botId: string;
  /** '' for a file of the bot itself. */
  readonly integrationId: string;
  readonly key: string;
  /** New with every upsert, so that content sent for an older one finds no file. */
  readonly uploadId: string;
  readonly sizeBytes: number;
  readonly indexed: boolean;
  readonly expiresAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly uploadedAt: number | null;
  readonly details: FileDetails;
}

interface FileRow {
  id: string;
  bot_id: string;
  integration_id: string;
  key: string;
  upload_id: string;
  size: number;
  indexed: number;
  expires_at: number | null;
  created_at: number;
  updated_at: number;
  uploaded_at: number | null;
  details: string;
}

interface SortedRow {
  position_value: string | number;
}

/** The files of all bots. Invariant: the usage figures equal the sums over the rows. */
export class FileTable {
  readonly #database: Database;
  readonly #statements;
  #fileBytes: number;
  #vectorBytes: number;
  #nextExpiry: number;

  /** `statusOf`: the status of a file at the present moment. */
  constructor(database: Database, statusOf: (file: StatusFacts) => string) {
    this.#database = database;
    database.function('file_status', (key: unknown, indexed: unknown, uploadedAt: unknown) =>
      statusOf({
        key: key as string,
        indexed: indexed === 1,
        uploadedAt: uploadedAt as number | null,
      }),
    );
    this.#statements = {
      byKey: database.prepare('SELECT * FROM file WHERE bot_id = ? AND integration_id = ? AND key = ?'),
      byId: database.prepare('SELECT * FROM file WHERE id = ?'),
      byUploadId: database.prepare('SELECT * FROM file WHERE upload_id = ?'),
      ofBot: database.prepare(
        'SELECT * FROM file WHERE bot_id = ? ORDER BY key, integration_id LIMIT ? OFFSET ?',
      ),
      put: database.prepare(
        `INSERT INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET upload_id = excluded.upload_id, size = excluded.size,
           indexed = excluded.indexed, expires_at = excluded.expires_at, updated_at = excluded.updated_at,
           uploaded_at = excluded.uploaded_at, details = excluded.details`,
      ),
      markUploaded: database.prepare('UPDATE file SET uploaded_at = ?, updated_at = ? WHERE upload_id = ?'),
      removeExpired: database.prepare('DELETE FROM file WHERE expires_at <= ? RETURNING *'),
      usageByBot: database.prepare(
        'SELECT bot_id, count(*) AS files, sum(size) AS bytes FROM file GROUP BY bot_id',
      ),
      remove: database.prepare('DELETE FROM file WHERE id = ?'),
      nextExpiry: database.prepare('SELECT min(expires_at) AS at FROM file WHERE expires_at IS NOT NULL'),
    };
    const usage = database
      .prepare(
        'SELECT coalesce(sum(size), 0) AS total, coalesce(sum(size * indexed), 0) AS indexed FROM file',
      )
      .get() as { total: number; indexed: number };
    this.#fileBytes = usage.total;
    this.#vectorBytes = usage.indexed;
    this.#nextExpiry = this.#readNextExpiry();
  }

  /** Bytes that count against the File Storage quota. */
  get fileBytes(): number {
    return this.#fileBytes;
  }

  /** Bytes that count against the Vector DB Storage quota. */
  get vectorBytes(): number {
    return this.#vectorBytes;
  }

  findByKey(botId: string, integrationId: string, key: string): StoredFile | null {
    return toFile(this.#statements.byKey.get(botId, integrationId, key) as FileRow | undefined);
  }

  findById(id: string): StoredFile | null {
    return toFile(this.#statements.byId.get(id) as FileRow | undefined);
  }

  findByUploadId(uploadId: string): StoredFile | null {
    return toFile(this.#statements.byUploadId.get(uploadId) as FileRow | undefined);
  }

  /** Files of a bot in the order of their keys, at most `limit` of them after the first `offset`; all by default. */
  listOfBot(botId: string, limit = -1, offset = 0): StoredFile[] {
    return (this.#statements.ofBot.all(botId, limit, offset) as FileRow[]).map(fromRow);
  }

  /** How many files each bot has, and their bytes; bots without files are left out. */
  usageByBot(): Map<string, { readonly files: number; readonly bytes: number }> {
    const rows = this.#statements.usageByBot.all() as { bot_id: string; files: number; bytes: number }[];
    return new Map(rows.map(({ bot_id, files, bytes }) => [bot_id, { files, bytes }]));
  }

  /** The files that a query asks for; a position is as `formatPosition` has it. */
  list(query: FileQuery): Page<StoredFile> {
    const { sql, parameters } = buildFileQuery(query);
    const rows = this.#database.prepare(sql).all(...parameters) as (FileRow & SortedRow)[];
    const page = cutPage(rows, query.size, (row) => formatPosition(query, [row.position_value, row.id]));
    return { ...page, items: page.items.map(fromRow) };
  }

  /** Writes a new file, or the new state of `previous` (same id). */
  put(file: StoredFile, previous: StoredFile | null): void {
    this.#statements.put.run(
      file.id,
      file.botId,
      file.integrationId,
      file.key,
      file.uploadId,
      file.sizeBytes,
      file.indexed ? 1 : 0,
      file.expiresAt,
      file.createdAt,
      file.updatedAt,
      file.uploadedAt,
      JSON.stringify(file.details),
    );
    if (previous !== null) this.#count(previous, -1);
    this.#count(file, 1);
    this.#nextExpiry = Math.min(this.#nextExpiry, file.expiresAt ?? Infinity);
  }

  /** Removes a file. */
  remove(file: StoredFile): void {
    this.#statements.remove.run(file.id);
    this.#count(file, -1);
  }

  /** Notes that the content of this upload is complete. */
  markUploaded(uploadId: string, now: number): void {
    this.#statements.markUploaded.run(now, now, uploadId);
  }

  /**
   * Removes every file whose time has come and returns them. Cheap when there is none, and since expiry has minute
   * precision it deletes at most once a minute: call it before every access. `now`: epoch ms.
   */
  removeExpired(now: number): StoredFile[] {
    if (now < this.#nextExpiry) return [];
    const removed = (this.#statements.removeExpired.all(now) as FileRow[]).map(fromRow);
    for (const file of removed) this.#count(file, -1);
    this.#nextExpiry = this.#readNextExpiry();
    return removed;
  }

  #count(file: StoredFile, sign: 1 | -1): void {
    this.#fileBytes += sign * file.sizeBytes;
    if (file.indexed) this.#vectorBytes += sign * file.sizeBytes;
  }

  #readNextExpiry(): number {
    return (this.#statements.nextExpiry.get() as { at: number | null }).at ?? Infinity;
  }
}

function toFile(row: FileRow | undefined): StoredFile | null {
  return row === undefined ? null : fromRow(row);
}

function fromRow(row: FileRow): StoredFile {
  return {
    id: row.id,
    botId: row.bot_id,
    integrationId: row.integration_id,
    key: row.key,
    uploadId: row.upload_id,
    sizeBytes: row.size,
    indexed: row.indexed === 1,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    uploadedAt: row.uploaded_at,
    details: JSON.parse(row.details) as FileDetails,
  };
}
