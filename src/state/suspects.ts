import type { FileKey } from '../domain/brands.ts';
import type { Query } from './database.ts';
import type { Change } from './notices.ts';

/** A file that is sent once more, whatever is on record. */
export interface Suspect {
  readonly target: number;
  readonly key: FileKey;
  readonly source: string;
  readonly path: string;
}

/**
 * Files of which something may still be on its way that a host sent before it ended: it would arrive in the place of what was sent
 * since. They are sent once more when that cannot be any longer. All times in epoch milliseconds. Methods throw `StateFileError`.
 */
export class SuspectStore {
  readonly #query: Query;
  readonly #change: Change;

  constructor(query: Query, change: Change) {
    this.#query = query;
    this.#change = change;
  }

  /** Suspects every file that is being sent or removed. */
  addUnfinished(againAtMs: number): void {
    this.#change(
      `INSERT OR REPLACE INTO suspect (target, key, again_at) SELECT target, key, ? FROM file
       WHERE state = 'sending' OR (state = 'removing' AND expires_at IS NULL)`,
      againAtMs,
    );
  }

  /** Those that are to be sent once more by now, so many at most. */
  due(nowMs: number, limit: number): Suspect[] {
    const rows = this.#query(
      `SELECT suspect.target, suspect.key, file.source, file.path FROM suspect
       JOIN file ON file.target = suspect.target AND file.key = suspect.key WHERE again_at <= ? LIMIT ?`,
      ...[nowMs, limit],
    );
    return rows.map(([target, key, source, path]) => ({ target, key, source, path }) as Suspect);
  }

  /** Has a file sent once more: what is on record of it does not count. One that was removed is removed again. */
  take({ target, key }: Suspect): void {
    this.#change(
      `UPDATE file SET state = iif(state = 'removing', state, 'sending'), expires_at = iif(state = 'removing', NULL, expires_at),
         sha256 = iif(state = 'removing', NULL, sha256), verdict = NULL, ask_at = NULL WHERE target = ? AND key = ?`,
      ...[target, key],
    );
    this.#change('DELETE FROM suspect WHERE target = ? AND key = ?', target, key);
  }

  /** Drops those that are due and of which nothing is on record any more. */
  dropForgotten(nowMs: number): void {
    const forgotten = `again_at <= ? AND NOT EXISTS
       (SELECT 1 FROM file WHERE file.target = suspect.target AND file.key = suspect.key)`;
    // As a rule there is none, and nothing to be written.
    const found = this.#query(`SELECT 1 FROM suspect WHERE ${forgotten} LIMIT 1`, nowMs);
    if ([...found].length > 0) this.#change(`DELETE FROM suspect WHERE ${forgotten}`, nowMs);
  }
}
