import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';

/** An open connection to SQLite. */
export type Database = DatabaseSyncInstance;

/** A prepared statement. */
export type Statement = StatementSyncInstance;

/** A value that is bound to a statement. */
export type SqlValue = string | number | null | Buffer;

/** Asks the state file. Throws `StateFileError`. */
export type Query = (sql: string, ...values: SqlValue[]) => (readonly unknown[])[];

/**
 * The state file cannot be used as it should.
 * - `damaged`: its content is not what was written.
 * - `unwritable`: the file system will not take a write (full, read-only).
 * - `gone`: it was removed or replaced while it was in use.
 * - `unlocked`: the file that keeps other processes from it was.
 * - `unheld`: it is a working copy, and this host does not hold what it is a copy of any more.
 */
export class StateFileError extends Error {
  readonly kind: 'damaged' | 'unwritable' | 'gone' | 'unlocked' | 'unheld';

  constructor(kind: StateFileError['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StateFileError';
    this.kind = kind;
  }
}

// Primary result codes, https://www.sqlite.org/rescode.html
const DAMAGED = new Set([11 /* CORRUPT */, 26 /* NOTADB */]);
const UNWRITABLE = new Set([8 /* READONLY */, 10 /* IOERR */, 13 /* FULL */, 14 /* CANTOPEN */]);
const BUSY = 5;

/** The binding leaves the code out of what `all` throws; these are the words of `sqlite3_errstr`. */
const CODE_OF_MESSAGE = new Map<unknown, number>([
  ['database disk image is malformed', 11],
  ['file is not a database', 26],
  ['disk I/O error', 10],
  ['database is locked', BUSY],
]);

/** Damage that SQLite or its binding reports as if the question had been wrong. */
const WORDS_OF_DAMAGE = new Set<unknown>([
  'unsupported file format',
  // Of columns that hold no blobs rows are read as JSON.
  'JSON cannot hold BLOB values',
  'malformed JSON',
]);
const OUT_OF_RANGE = 'ERR_OUT_OF_RANGE';

/** What kind of trouble an error of SQLite is; `null` for one that is a defect of ours. */
export function troubleOf(error: unknown): 'damaged' | 'unwritable' | 'busy' | null {
  const { errcode, message, code: name } = error as { errcode?: unknown; message?: unknown; code?: unknown };
  // No number that botsync writes is too large for a number to be read.
  if (WORDS_OF_DAMAGE.has(message) || name === OUT_OF_RANGE) return 'damaged';
  const code = typeof errcode === 'number' ? errcode : CODE_OF_MESSAGE.get(message);
  if (code === undefined) return null;
  const primary = code & 0xff;
  if (DAMAGED.has(primary)) return 'damaged';
  if (UNWRITABLE.has(primary)) return 'unwritable';
  return primary === BUSY ? 'busy' : null;
}

/**
 * Runs something on the database; SQLite's word that the file is damaged or cannot be written becomes a `StateFileError`.
 * The caller holds botsync's own lock, so that a file that is busy is busy with another program.
 */
export function guarded<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    const trouble = troubleOf(error);
    const { message } = error as Error;
    switch (trouble) {
      case 'damaged':
      case 'unwritable':
        throw new StateFileError(trouble, message, { cause: error });
      case 'busy':
        throw new StateFileError('unwritable', `another program holds a lock on it (${message})`, {
          cause: error,
        });
      case null:
        throw error;
    }
  }
}

/** Reads a pragma that answers with one number. */
export function pragmaNumber(database: Database, name: string): number {
  const row = database.prepare(`PRAGMA ${name}`).get() as Record<string, unknown> | undefined;
  return Number(row?.[name] ?? 0);
}
