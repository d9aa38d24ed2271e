import type { Database } from './database.ts';
import type { StoredFile } from './stored-file.ts';

/** Writes rows of the table `file`, or of a table with the same columns. */
export class FileRows {
  readonly #put;
  readonly #remove;

  constructor(database: Database, table: string) {
    this.#put = database.prepare(
      `INSERT OR REPLACE INTO ${table} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#remove = database.prepare(`DELETE FROM ${table} WHERE id = ?`);
  }

  put(file: StoredFile): void {
    this.#put.run(
      file.id,
      file.botId,
      file.integrationId,
      file.key,
      file.uploadId,
      file.sizeBytes,
      file.indexed ? 1 : 0,
      typeof file.life?.uploadFailure === 'string' ? 1 : 0,
      file.expiresAt,
      file.createdAt,
      file.updatedAt,
      JSON.stringify(file),
    );
  }

  remove(id: string): void {
    this.#remove.run(id);
  }
}

/** The table that lagging lists are read from. */
export const REPLICA = 'temp.listed';

interface Change {
  readonly at: number;
  readonly id: string;
  /** Null for a removed file. */
  readonly file: StoredFile | null;
}

/** A copy of the table of files that gets every change `lagMs` later. */
export class ListReplica {
  readonly #database: Database;
  readonly #lagMs: number;
  readonly #rows: FileRows;
  #changes: Change[] = [];

  /** Starts with a copy of the current files. */
  constructor(database: Database, lagMs: number) {
    this.#database = database;
    this.#lagMs = lagMs;
    database.exec(`DROP TABLE IF EXISTS ${REPLICA}; CREATE TABLE ${REPLICA} AS SELECT * FROM file;
      CREATE UNIQUE INDEX temp.listed_id ON listed (id);`);
    this.#rows = new FileRows(database, REPLICA);
  }

  /** Adds a change. `now`: epoch ms. */
  note(id: string, file: StoredFile | null, now: number): void {
    this.#changes.push({ at: now, id, file });
  }

  /** Applies the changes that are due `now`. */
  catchUp(now: number): void {
    const due = this.#changes.findIndex(({ at }) => now < at + this.#lagMs);
    for (const { id, file } of this.#changes.splice(0, due === -1 ? this.#changes.length : due)) {
      if (file === null) this.#rows.remove(id);
      else this.#rows.put(file);
    }
  }

  end(): void {
    this.#database.exec(`DROP TABLE ${REPLICA}`);
  }
}
