import { DatabaseSync } from '@photostructure/sqlite';
import type { ListedFile } from '../domain/file-catalog.ts';
import { PageCursor } from './page-cursor.ts';
import { troubleOf, type Database, type Statement } from './database.ts';

/** The list of a bot's files cannot be stored: the directory for temporary files is full or not writable. */
export class ListingError extends Error {
  constructor(cause: Error) {
    super(
      `the list of the bot's files cannot be written to a temporary file (${cause.message}); free some space there, or choose another directory with TMPDIR`,
      { cause },
    );
    this.name = 'ListingError';
  }
}

/** Files are read this many at a time: their metadata may be large. */
const PAGE_ROWS = 200;

const CACHE_KIB = 4096;

/**
 * All files of a bot on the platform, in a temporary database that SQLite keeps in memory or, when it grows, in a temporary file. Methods throw `ListingError`.
 */
export class PlatformListing {
  readonly #database: Database;
  readonly #add: Statement;
  #find: Statement | null = null;
  #isSorted = false;
  #bytes = 0;

  constructor() {
    this.#database = orListingError(() => new DatabaseSync(''));
    orListingError(() => {
      // Nothing has to survive the process: the files are listed again.
      this.#database.exec(
        `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -${CACHE_KIB};
         CREATE TABLE listed (number INTEGER PRIMARY KEY, key TEXT NOT NULL, file TEXT NOT NULL) STRICT;`,
      );
    });
    // A page at a time: running a statement costs more than inserting one file.
    this.#add = this.#database.prepare(
      'INSERT INTO listed (key, file) SELECT value ->> 0, value ->> 1 FROM json_each(?) ORDER BY id',
    );
  }

  /** Adds a page of files. The later file of a key counts: it was created again while the pages were read. */
  add(files: readonly ListedFile[]): void {
    const text = JSON.stringify(files.map((file) => [file.key, toText(file)]));
    orListingError(() => {
      this.#add.run(text);
    });
    this.#bytes += Buffer.byteLength(text);
  }

  /** The approximate size of the stored list. */
  get bytes(): number {
    return this.#bytes;
  }

  /** `null`: the platform did not list the key. */
  find(key: string): ListedFile | null {
    this.#find ??= this.#prepare('SELECT file FROM listed WHERE key = ? ORDER BY number DESC LIMIT 1');
    const find = this.#find;
    const row = orListingError(() => find.get(key) as readonly unknown[] | undefined);
    return row === undefined ? null : toFile(JSON.parse(row[0] as string) as Fields);
  }

  /** All files in the order of their keys' bytes in UTF-8. */
  byKey(): PageCursor<ListedFile> {
    // With max() the other columns come from the same row: https://www.sqlite.org/lang_select.html#bareagg
    const page = this.#prepare(
      `SELECT '[' || coalesce(group_concat(file), '') || ']' FROM
       (SELECT file, max(number) FROM listed WHERE key > ? GROUP BY key ORDER BY key LIMIT ${PAGE_ROWS})`,
    );
    return new PageCursor((after) => {
      const [text] = orListingError(() => page.get(after?.key ?? '') as readonly string[]);
      return (JSON.parse(text ?? '[]') as Fields[]).map(toFile);
    });
  }

  close(): void {
    this.#database.close();
  }

  /** Creates the index on first use: sorting once takes a tenth of the time of keeping rows sorted. */
  #prepare(sql: string): Statement {
    orListingError(() => {
      if (!this.#isSorted) this.#database.exec('CREATE INDEX listed_key ON listed (key)');
    });
    this.#isSorted = true;
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    return statement;
  }
}

/** A file without the names of its fields, which would double its size. */
type Fields = readonly [
  key: string,
  id: string,
  sizeBytes: number | null,
  status: string | null,
  failedReason: string | null,
  contentType: string | null,
  tags: ListedFile['tags'],
  metadata: ListedFile['metadata'],
  accessPolicies: readonly string[],
  index: boolean | null,
  expiresAtMs: number | null,
  ownerType: string | null,
];

/** Leaves out the signed address, which is a secret and of no use later. */
function toText(file: ListedFile): string {
  const fields: Fields = [
    file.key,
    file.id,
    file.sizeBytes,
    file.status,
    file.failedReason,
    file.contentType,
    file.tags,
    file.metadata,
    file.accessPolicies,
    file.index,
    file.expiresAtMs,
    file.ownerType,
  ];
  return JSON.stringify(fields);
}

/** Reads by position: destructuring takes longer than parsing. */
function toFile(fields: Fields): ListedFile {
  return {
    key: fields[0],
    id: fields[1],
    sizeBytes: fields[2],
    status: fields[3],
    failedReason: fields[4],
    contentType: fields[5],
    tags: fields[6],
    metadata: fields[7],
    accessPolicies: fields[8],
    index: fields[9],
    expiresAtMs: fields[10],
    ownerType: fields[11],
  };
}

function orListingError<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (troubleOf(error) === null) throw error;
    throw new ListingError(error as Error);
  }
}
