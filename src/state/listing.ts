import { DatabaseSync } from '@photostructure/sqlite';
import type { ListedFile } from '../domain/file-catalog.ts';
import { PageCursor } from './page-cursor.ts';
import { troubleOf, type Database, type Statement } from './database.ts';

/** The list of what a platform has cannot be kept: the directory for temporary files is full, or cannot be written. */
export class ListingError extends Error {
  constructor(cause: Error) {
    super(
      `the list of the bot's files cannot be written to a temporary file (${cause.message}); free some space there, or choose another directory with TMPDIR`,
      { cause },
    );
    this.name = 'ListingError';
  }
}

/** Stands on one file after the other, in the order of the keys' bytes in UTF-8. */
export type ListingCursor = PageCursor<string, Fields, ListedFile>;

/** Files are read this many at a time: their metadata may be large. */
const PAGE_ROWS = 200;

/** Of the database pages at most so many KiB are kept in memory. */
const CACHE_KIB = 4096;

/**
 * All files that a platform was found to have of a bot: in a database of its own that lies among the temporary files,
 * where memory does not suffice, and is gone once it is closed. Methods throw `ListingError`.
 */
export class PlatformListing {
  readonly #database: Database;
  readonly #add: Statement;
  #find: Statement | null = null;
  #isSorted = false;

  constructor() {
    this.#database = orListingError(() => new DatabaseSync(''));
    orListingError(() => {
      // What is lost with the process is listed again.
      this.#database.exec(
        `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -${CACHE_KIB};
         CREATE TABLE listed (number INTEGER PRIMARY KEY, key TEXT NOT NULL, file TEXT NOT NULL) STRICT;`,
      );
    });
    // A page at a time: to run a statement costs more than what it does for one file.
    this.#add = this.#database.prepare(
      'INSERT INTO listed (key, file) SELECT value ->> 0, value ->> 1 FROM json_each(?) ORDER BY id',
    );
  }

  /** Takes in a page of files. Of a key that comes twice the later counts: it was made again while the pages were read. */
  add(files: readonly ListedFile[]): void {
    orListingError(() => {
      this.#add.run(JSON.stringify(files.map((file) => [file.key, toText(file)])));
    });
  }

  /** The file of a key; `null`: the platform did not list it. */
  find(key: string): ListedFile | null {
    this.#find ??= this.#prepare('SELECT file FROM listed WHERE key = ? ORDER BY number DESC LIMIT 1');
    const find = this.#find;
    const row = orListingError(() => find.get(key) as readonly unknown[] | undefined);
    return row === undefined ? null : toFile(JSON.parse(row[0] as string) as Fields);
  }

  /** All files in the order of their keys, which merges with `recordsByKey`. */
  byKey(): ListingCursor {
    // Beside max() the other columns are of its row: https://www.sqlite.org/lang_select.html#bareagg
    const page = this.#prepare(
      `SELECT '[' || coalesce(group_concat(file), '') || ']' FROM
       (SELECT file, max(number) FROM listed WHERE key > ? GROUP BY key ORDER BY key LIMIT ${PAGE_ROWS})`,
    );
    const read = (after: string): Fields[] => {
      const [text] = orListingError(() => page.get(after) as readonly string[]);
      return JSON.parse(text ?? '[]') as Fields[];
    };
    return new PageCursor({ start: '', read, placeOf: (fields) => fields[0], itemOf: toFile });
  }

  /** Lets go of it. */
  close(): void {
    this.#database.close();
  }

  /** To sort all files at once takes a tenth of what it takes to keep them sorted as they come. */
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

/** What is kept of a file, without the names: they would take as much room again. */
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

/** Not its signed address, which is a secret, and of no use later. */
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

/** By position: to take a list apart by a pattern takes longer than to parse it. */
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
