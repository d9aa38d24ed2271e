import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';

export type Database = DatabaseSyncInstance;

export type Statement = StatementSyncInstance;

export type SqlValue = string | number | null | Buffer;

/** Runs a writing statement on the state file. Throws `StateFileError`. */
export type Change = (sql: string, ...values: SqlValue[]) => void;

/** Runs a reading statement on the state file and returns its rows. Throws `StateFileError`. */
export type Query = (sql: string, ...values: SqlValue[]) => (readonly unknown[])[];

/**
 * The state file cannot be used.
 * - `damaged`: its content is not what botsync wrote.
 * - `unwritable`: the file system refuses a write (full, read-only).
 * - `gone`: the file was removed or replaced while it was in use.
 * - `unlocked`: the lock file was removed or replaced, so other processes are not kept out.
 * - `unheld`: the file is a working copy of a unit that this host no longer holds.
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

/** Result codes by the messages of `sqlite3_errstr`: errors thrown by `all` have no code. */
const CODE_OF_MESSAGE = new Map<unknown, number>([
  ['database disk image is malformed', 11],
  ['file is not a database', 26],
  ['disk I/O error', 10],
  ['database is locked', BUSY],
]);

/** Messages for a damaged file that read as if the statement were wrong. */
const WORDS_OF_DAMAGE = new Set<unknown>([
  'unsupported file format',
  // Rows are read as JSON, and no column that is read so holds blobs in a sound file.
  'JSON cannot hold BLOB values',
  'malformed JSON',
]);
const OUT_OF_RANGE = 'ERR_OUT_OF_RANGE';

/** Classifies an error of SQLite; `null`: a defect of botsync. */
export function troubleOf(error: unknown): 'damaged' | 'unwritable' | 'busy' | null {
  const { errcode, message, code: name } = error as { errcode?: unknown; message?: unknown; code?: unknown };
  // botsync never writes an integer that JavaScript cannot read.
  if (WORDS_OF_DAMAGE.has(message) || name === OUT_OF_RANGE) return 'damaged';
  const code = typeof errcode === 'number' ? errcode : CODE_OF_MESSAGE.get(message);
  if (code === undefined) return null;
  const primary = code & 0xff;
  if (DAMAGED.has(primary)) return 'damaged';
  if (UNWRITABLE.has(primary)) return 'unwritable';
  return primary === BUSY ? 'busy' : null;
}

/**
 * Runs `action`, and turns errors of SQLite about a damaged or unwritable file into `StateFileError`. The caller holds botsync's
 * own lock, so a busy file is in use by another program.
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

/** Returns the value of a numeric pragma. */
export function pragmaNumber(database: Database, name: string): number {
  const row = database.prepare(`PRAGMA ${name}`).get() as Record<string, unknown> | undefined;
  return Number(row?.[name] ?? 0);
}

/** The largest time value of a `Date`, epoch milliseconds. */
const FURTHEST_MS = 8.64e15;

/** Throws `StateFileError` when a row is not as botsync writes rows: columns of a damaged page can be of any type. */
export function mustMakeSense(isSound: boolean): asserts isSound {
  if (!isSound) throw new StateFileError('damaged', 'a row is invalid');
}

/** Returns whether a value can be a time in epoch milliseconds. */
export function isMoment(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= FURTHEST_MS;
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
