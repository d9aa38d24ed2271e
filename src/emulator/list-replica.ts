import type { Database } from './database.ts';
import type { FileRow } from './stored-file.ts';

/** The table that lagging lists are read from. */
export const REPLICA = 'temp.listed';

interface Change {
  readonly at: number;
  readonly id: string;
  /** Null when the file is gone. */
  readonly row: FileRow | null;
}

/** A second table of the files that learns of every change some time after it happened. */
export class ListReplica {
  readonly #database: Database;
  readonly #lagMs: number;
  readonly #forget;
  readonly #put;
  #changes: Change[] = [];

  /** Begins with the files as they are. */
  constructor(database: Database, lagMs: number) {
    this.#database = database;
    this.#lagMs = lagMs;
    database.exec(`DROP TABLE IF EXISTS ${REPLICA}; CREATE TABLE ${REPLICA} AS SELECT * FROM file;
      CREATE INDEX temp.listed_id ON listed (id);`);
    this.#forget = database.prepare(`DELETE FROM ${REPLICA} WHERE id = ?`);
    this.#put = database.prepare(
      `INSERT INTO ${REPLICA} SELECT ${COLUMNS.map((column) => `:${column}`).join(', ')}`,
    );
  }

  /** Notes a change of a file that has just been made. `now`: epoch ms. */
  note(id: string, row: FileRow | null, now: number): void {
    this.#changes.push({ at: now, id, row });
  }

  /** Brings the table to where it is to be `now`. */
  catchUp(now: number): void {
    const due = this.#changes.findIndex(({ at }) => now < at + this.#lagMs);
    for (const { id, row } of this.#changes.splice(0, due === -1 ? this.#changes.length : due)) {
      this.#forget.run(id);
      if (row !== null) this.#put.run({ ...row });
    }
  }

  /** Removes the table. */
  end(): void {
    this.#database.exec(`DROP TABLE ${REPLICA}`);
  }
}

/** In the order in which the table has them. */
const COLUMNS = [
  'id',
  'bot_id',
  'integration_id',
  'key',
  'upload_id',
  'size',
  'indexed',
  'expires_at',
  'created_at',
  'updated_at',
  'uploaded_at',
  'details',
  'key_order',
  'life',
] as const satisfies readonly (keyof FileRow)[];
