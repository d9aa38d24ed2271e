import type { Database } from './database.ts';
import type { FileLife } from './file-life.ts';
import { buildFileQuery, type FileQuery } from './file-query.ts';
import type { StatusFacts } from './file-status.ts';
import { buildFileSearch, keyContains, type FileSearch } from './file-search.ts';
import { keyOrder } from './key-order.ts';
import { ListReplica, REPLICA } from './list-replica.ts';
import { formatPosition } from './list-files-query.ts';
import { cutPage, type Page } from './paging.ts';
import { fromRow, type FileRow, type StoredFile } from './stored-file.ts';

/** In SQL: whether a file counts against the quotas. */
const COUNTS = `(life IS NULL OR json_extract(life, '$.uploadFailure') IS NULL)`;

interface SortedRow {
  position_value: string | number;
}

/** What the present moment makes of files. */
export interface FileMoment {
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly statusOf: (file: StatusFacts) => string;
  /** The size that is told of a file, null while it has no content. */
  readonly sizeOf: (file: Pick<StoredFile, 'sizeBytes' | 'life'>) => number | null;
}

/** How much is used by one bot, or by all of them. */
export interface FileUsage {
  readonly bytes: number;
  readonly vectorBytes: number;
  readonly indexedFiles: number;
  readonly largestBytes: number;
}

/** The files of all bots. Invariant: the usage figures equal the sums over the rows. */
export class FileTable {
  readonly #database: Database;
  readonly #moment: FileMoment;
  readonly #statements;
  #replica: ListReplica | null = null;
  #fileBytes: number;
  #vectorBytes: number;
  #indexedFiles: number;
  #nextExpiry: number;

  constructor(database: Database, moment: FileMoment) {
    this.#database = database;
    this.#moment = moment;
    database.function('file_status', (key: unknown, indexed: unknown, life: unknown) =>
      moment.statusOf({ key: key as string, indexed: indexed === 1, life: parseLife(life) }),
    );
    // One without content comes before all others.
    database.function(
      'file_size',
      (size: unknown, life: unknown) =>
        moment.sizeOf({ sizeBytes: size as number, life: parseLife(life) }) ?? -1,
    );
    database.function('key_contains', (key: unknown, text: unknown) =>
      keyContains(key as string, text as string) ? 1 : 0,
    );
    this.#statements = {
      byKey: database.prepare('SELECT * FROM file WHERE bot_id = ? AND integration_id = ? AND key = ?'),
      byId: database.prepare('SELECT * FROM file WHERE id = ?'),
      byUploadId: database.prepare('SELECT * FROM file WHERE upload_id = ?'),
      ofBot: database.prepare('SELECT * FROM file WHERE bot_id = ? ORDER BY key, integration_id'),
      put: database.prepare(
        `INSERT INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET upload_id = excluded.upload_id, size = excluded.size,
           indexed = excluded.indexed, expires_at = excluded.expires_at, updated_at = excluded.updated_at,
           uploaded_at = excluded.uploaded_at, details = excluded.details, life = excluded.life`,
      ),
      removeExpired: database.prepare('DELETE FROM file WHERE expires_at <= ? RETURNING *'),
      usageByBot: database.prepare(
        'SELECT bot_id, count(*) AS files, sum(size) AS bytes FROM file GROUP BY bot_id',
      ),
      remove: database.prepare('DELETE FROM file WHERE id = ?'),
      usage: database.prepare(
        `SELECT coalesce(sum(size), 0) AS bytes, coalesce(sum(size * indexed), 0) AS vectorBytes,
           coalesce(sum(indexed), 0) AS indexedFiles, coalesce(max(size), 0) AS largestBytes
         FROM file WHERE bot_id = coalesce(?, bot_id) AND ${COUNTS}`,
      ),
      nextExpiry: database.prepare('SELECT min(expires_at) AS at FROM file WHERE expires_at IS NOT NULL'),
    };
    const usage = this.usage(null);
    this.#fileBytes = usage.bytes;
    this.#vectorBytes = usage.vectorBytes;
    this.#indexedFiles = usage.indexedFiles;
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

  /** How many files count against the quota of indexed files. */
  get indexedFiles(): number {
    return this.#indexedFiles;
  }

  /** What a bot uses; null: all of them together. */
  usage(botId: string | null): FileUsage {
    return this.#statements.usage.get(botId) as FileUsage;
  }

  /** From now on lists show what was there so long ago, and (null) what is there. */
  lag(lagMs: number | null): void {
    this.#replica?.end();
    this.#replica = lagMs === null ? null : new ListReplica(this.#database, lagMs);
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

  /** The files of a bot in the order of their keys. */
  listOfBot(botId: string): StoredFile[] {
    return (this.#statements.ofBot.all(botId) as FileRow[]).map(fromRow);
  }

  /** How many files a search finds. */
  countFound(search: FileSearch): number {
    const { where, parameters } = buildFileSearch(search);
    const statement = this.#database.prepare(`SELECT count(*) AS count FROM file WHERE ${where}`);
    return (statement.get(...parameters) as { count: number }).count;
  }

  /** The files that a search finds, at most `limit` of them after the first `offset`. */
  search(search: FileSearch, limit: number, offset: number): StoredFile[] {
    const { where, order, parameters } = buildFileSearch(search);
    const statement = this.#database.prepare(
      `SELECT * FROM file WHERE ${where} ORDER BY ${order} LIMIT ? OFFSET ?`,
    );
    return (statement.all(...parameters, limit, offset) as FileRow[]).map(fromRow);
  }

  /** How many files each bot has, and their bytes; bots without files are left out. */
  usageByBot(): Map<string, { readonly files: number; readonly bytes: number }> {
    const rows = this.#statements.usageByBot.all() as { bot_id: string; files: number; bytes: number }[];
    return new Map(rows.map(({ bot_id, files, bytes }) => [bot_id, { files, bytes }]));
  }

  /** The files that a query asks for; a position is as `formatPosition` has it. */
  list(query: FileQuery): Page<StoredFile> {
    this.#replica?.catchUp(this.#moment.now());
    const { sql, parameters } = buildFileQuery(query, this.#replica === null ? 'file' : REPLICA);
    const rows = this.#database.prepare(sql).all(...parameters) as (FileRow & SortedRow)[];
    const page = cutPage(rows, query.size, (row) => formatPosition(query, [row.position_value, row.id]));
    return { ...page, items: page.items.map(fromRow) };
  }

  /** The files of a list that are to be indexed, whatever became of them. */
  listIndexed({
    botId,
    integrationId,
    tags,
  }: Pick<FileQuery, 'botId' | 'integrationId' | 'tags'>): StoredFile[] {
    const { sql, parameters } = buildFileQuery(
      {
        botId,
        integrationId,
        tags,
        ids: null,
        indexed: true,
        sortField: 'key',
        sortDirection: 'asc',
        after: null,
        size: Number.MAX_SAFE_INTEGER - 1,
      },
      'file',
    );
    return (this.#database.prepare(sql).all(...parameters) as FileRow[]).map(fromRow);
  }

  /** Writes a new file, or what has become of `previous`. */
  put(file: StoredFile, previous: StoredFile | null): void {
    if (previous !== null && previous.id !== file.id) this.remove(previous);
    else if (previous !== null) this.#count(previous, -1);
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
      keyOrder(file.key),
      file.life === null ? null : JSON.stringify(file.life),
    );
    this.#count(file, 1);
    this.#note(file.id);
    this.#nextExpiry = Math.min(this.#nextExpiry, file.expiresAt ?? Infinity);
  }

  /** Removes a file. */
  remove(file: StoredFile): void {
    this.#statements.remove.run(file.id);
    this.#count(file, -1);
    this.#note(file.id);
  }

  /**
   * Removes every file whose time has come and returns them. Cheap when there is none, and since expiry has minute
   * precision it deletes at most once a minute: call it before every access. `now`: epoch ms.
   */
  removeExpired(now: number): StoredFile[] {
    if (now < this.#nextExpiry) return [];
    const removed = (this.#statements.removeExpired.all(now) as FileRow[]).map(fromRow);
    for (const file of removed) {
      this.#count(file, -1);
      this.#note(file.id);
    }
    this.#nextExpiry = this.#readNextExpiry();
    return removed;
  }

  /** Content that was refused counts for nothing. */
  #count(file: StoredFile, sign: 1 | -1): void {
    if (typeof file.life?.uploadFailure === 'string') return;
    this.#fileBytes += sign * file.sizeBytes;
    if (!file.indexed) return;
    this.#vectorBytes += sign * file.sizeBytes;
    this.#indexedFiles += sign;
  }

  #note(id: string): void {
    if (this.#replica === null) return;
    const row = this.#statements.byId.get(id) as FileRow | undefined;
    this.#replica.note(id, row ?? null, this.#moment.now());
  }

  #readNextExpiry(): number {
    return (this.#statements.nextExpiry.get() as { at: number | null }).at ?? Infinity;
  }
}

function toFile(row: FileRow | undefined): StoredFile | null {
  return row === undefined ? null : fromRow(row);
}

function parseLife(text: unknown): FileLife | null {
  return typeof text === 'string' ? (JSON.parse(text) as FileLife) : null;
}
