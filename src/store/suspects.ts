import type { Query, Change } from './database.ts';
import type { RowId } from './file-reader.ts';

/**
 * Stores suspects: files that a host was sending when it ended. A late arrival would replace newer content, so each suspect is sent
 * once more when nothing can arrive any longer. All times in epoch milliseconds. Methods throw `StateFileError`.
 */
export class SuspectStore {
  readonly #query: Query;
  readonly #change: Change;

  constructor(query: Query, change: Change) {
    this.#query = query;
    this.#change = change;
  }

  /** Adds every file that is being sent or removed. */
  addUnfinished(againAtMs: number): void {
    this.#change(
      `INSERT OR REPLACE INTO suspect (target, key, again_at) SELECT target, key, ? FROM file
       WHERE state = 'sending' OR (state = 'removing' AND expires_at IS NULL)`,
      againAtMs,
    );
  }

  /** Has a suspect sent, or removed, once more whatever its record says. */
  take({ target, key }: RowId): void {
    this.#change(
      `UPDATE file SET state = iif(state = 'removing', state, 'sending'), expires_at = iif(state = 'removing', NULL, expires_at),
         sha256 = iif(state = 'removing', NULL, sha256), verdict = NULL, ask_at = NULL WHERE target = ? AND key = ?`,
      ...[target, key],
    );
    this.#change('DELETE FROM suspect WHERE target = ? AND key = ?', target, key);
  }

  /** Drops due suspects that have no record any more. */
  dropForgotten(nowMs: number): void {
    const forgotten = `again_at <= ? AND NOT EXISTS
       (SELECT 1 FROM file WHERE file.target = suspect.target AND file.key = suspect.key)`;
    // Usually there is none, and nothing has to be written.
    const found = this.#query(`SELECT 1 FROM suspect WHERE ${forgotten} LIMIT 1`, nowMs);
    if ([...found].length > 0) this.#change(`DELETE FROM suspect WHERE ${forgotten}`, nowMs);
  }
}
