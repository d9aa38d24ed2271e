import type { Database } from './database.ts';
import type { FileStatus, StoredFile } from './stored-file.ts';
import { FileRows, ListReplica, REPLICA } from './file-rows.ts';
import { cutPage, type Page } from './paging.ts';

/** The columns for sorting, by their names in the interface. `file_status` depends on the clock. */
const SORT_EXPRESSIONS = {
  key: 'key',
  size: 'size',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  status: 'file_status(value)',
} as const;

export const SORT_FIELDS = ['key', 'size', 'createdAt', 'updatedAt', 'status'] as const;

export interface FileQuery {
  readonly botId: string;
  /**
   * '' for the bot itself, which sees all its files; an integration sees its own and those with the policy
   * `integrations`.
   */
  readonly integrationId: string;
  /** A file must have all of these tags. */
  readonly tags: Readonly<Record<string, string>>;
  /** Null for all. */
  readonly ids: readonly string[] | null;
  /** Null for both. */
  readonly indexed: boolean | null;
  readonly sortField: (typeof SORT_FIELDS)[number];
  readonly sortDirection: 'asc' | 'desc';
  /** The sorted value and the id of the last file of the page before. */
  readonly after: readonly [value: string | number, id: string] | null;
  readonly size: number;
}

/** A search from the page. */
export interface FileSearch {
  readonly botId: string;
  /** Part of the key, case-insensitive; empty for all. */
  readonly contains: string;
  readonly status: FileStatus | null;
}

export interface FileUsage {
  readonly bytes: number;
  readonly vectorBytes: number;
  readonly indexedFiles: number;
  readonly largestBytes: number;
}

interface FileRow {
  readonly value: string;
}

/** SQL condition of a `FileSearch`. */
const FOUND = `bot_id = ?1 AND (?2 = '' OR instr(lower_case(key), lower_case(?2)) > 0)
  AND (?3 IS NULL OR file_status(value) = ?3)`;

export class FileTable {
  readonly #database: Database;
  readonly #now: () => number;
  readonly #rows: FileRows;
  readonly #statements;
  #replica: ListReplica | null = null;

  /** `statusOf`: the current status of a file; `now`: epoch ms. */
  constructor(database: Database, statusOf: (file: StoredFile) => FileStatus, now: () => number) {
    this.#database = database;
    this.#now = now;
    this.#rows = new FileRows(database, 'file');
    database.function('file_status', (value: unknown) => statusOf(JSON.parse(value as string) as StoredFile));
    database.function('lower_case', (text: unknown) => (text as string).toLowerCase());
    const select = (condition: string): ReturnType<Database['prepare']> =>
      database.prepare(`SELECT value FROM file WHERE ${condition}`);
    this.#statements = {
      byKey: select('bot_id = ? AND integration_id = ? AND key = ?'),
      byId: select('id = ?'),
      byUploadId: select('upload_id = ?'),
      ofBot: select('bot_id = ? ORDER BY key, integration_id'),
      found: select(`${FOUND} ORDER BY key, integration_id LIMIT ?4 OFFSET ?5`),
      countFound: database.prepare(`SELECT count(*) AS count FROM file WHERE ${FOUND}`),
      expired: select('expires_at <= ?'),
      usage: database.prepare(
        `SELECT coalesce(sum(size), 0) AS bytes,
           coalesce(sum(size * indexed), 0) AS vectorBytes, coalesce(sum(indexed), 0) AS indexedFiles,
           coalesce(max(size), 0) AS largestBytes
         FROM file WHERE bot_id = coalesce(?, bot_id) AND refused = 0`,
      ),
    };
  }

  /** The usage of a bot; null: of all bots together. */
  usage(botId: string | null): FileUsage {
    return this.#statements.usage.get(botId) as FileUsage;
  }

  /** Lets lists show the files of `lagMs` ago; `null` ends that. */
  lag(lagMs: number | null): void {
    this.#replica?.end();
    this.#replica = lagMs === null ? null : new ListReplica(this.#database, lagMs);
  }

  findByKey(botId: string, integrationId: string, key: string): StoredFile | null {
    return toFile(this.#statements.byKey.get(botId, integrationId, key));
  }

  findById(id: string): StoredFile | null {
    return toFile(this.#statements.byId.get(id));
  }

  findByUploadId(uploadId: string): StoredFile | null {
    return toFile(this.#statements.byUploadId.get(uploadId));
  }

  /** In the order of keys. */
  listOfBot(botId: string): StoredFile[] {
    return (this.#statements.ofBot.all(botId) as FileRow[]).map(fromRow);
  }

  /** `now`: epoch ms. */
  expired(now: number): StoredFile[] {
    return (this.#statements.expired.all(now) as FileRow[]).map(fromRow);
  }

  countFound({ botId, contains, status }: FileSearch): number {
    return (this.#statements.countFound.get(botId, contains, status) as { count: number }).count;
  }

  /** In the order of keys. */
  search({ botId, contains, status }: FileSearch, limit: number, offset: number): StoredFile[] {
    const rows = this.#statements.found.all(botId, contains, status, limit, offset);
    return (rows as FileRow[]).map(fromRow);
  }

  /** Positions are JSON: the sort order, then the values of `FileQuery.after`. */
  list(query: FileQuery): Page<StoredFile> {
    this.#replica?.catchUp(this.#now());
    const { sql, parameters } = buildQuery(query, this.#replica === null ? 'file' : REPLICA);
    const rows = this.#database.prepare(sql).all(...parameters) as (FileRow & { position: string })[];
    const page = cutPage(rows, query.size, ({ position }) => position);
    return { ...page, items: page.items.map(fromRow) };
  }

  /** Adds a file, or replaces `previous`. */
  put(file: StoredFile, previous: StoredFile | null): void {
    if (previous !== null && previous.id !== file.id) this.remove(previous);
    this.#rows.put(file);
    this.#replica?.note(file.id, file, this.#now());
  }

  remove({ id }: StoredFile): void {
    this.#rows.remove(id);
    this.#replica?.note(id, null, this.#now());
  }
}

/** Builds a statement that returns files with their positions, one row more than the page has. */
function buildQuery(
  { botId, integrationId, tags, ids, indexed, sortField, sortDirection, after, size }: FileQuery,
  table: string,
): { sql: string; parameters: (string | number)[] } {
  const sorted = SORT_EXPRESSIONS[sortField];
  // The plus keeps SQLite from scanning all files in order when only a few ids are wanted.
  const conditions = [ids === null ? 'bot_id = ?' : '+bot_id = ?'];
  const parameters: (string | number)[] = [botId];
  const add = (condition: string, ...values: (string | number)[]): void => {
    conditions.push(condition);
    parameters.push(...values);
  };
  for (const tag of Object.entries(tags))
    add(
      `EXISTS (SELECT 1 FROM json_each(file.value, '$.tags') WHERE json_each.key = ? AND json_each.value = ?)`,
      ...tag,
    );
  if (integrationId !== '')
    add(
      `(integration_id = ? OR EXISTS
        (SELECT 1 FROM json_each(file.value, '$.accessPolicies') WHERE json_each.value = 'integrations'))`,
      integrationId,
    );
  if (ids !== null) add('id IN (SELECT json_each.value FROM json_each(?))', JSON.stringify(ids));
  if (indexed !== null) add('indexed = ?', indexed ? 1 : 0);
  if (after !== null) add(`(${sorted}, id) ${sortDirection === 'asc' ? '>' : '<'} (?, ?)`, ...after);
  return {
    sql: `SELECT file.value, json_array('${sortField}', '${sortDirection}', ${sorted}, id) AS position FROM ${table} AS file
      WHERE ${conditions.join(' AND ')}
      ORDER BY ${sorted} ${sortDirection}, id ${sortDirection} LIMIT ?`,
    parameters: [...parameters, size + 1],
  };
}

function toFile(row: unknown): StoredFile | null {
  return row === undefined ? null : fromRow(row as FileRow);
}

function fromRow({ value }: FileRow): StoredFile {
  return JSON.parse(value) as StoredFile;
}
