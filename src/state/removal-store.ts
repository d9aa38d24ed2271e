import { IS_SUSPECT } from './conditions.ts';
import type { Change } from './notices.ts';
import type { RowId } from './state-reader.ts';

/**
 * Removals: rows of files that were removed here while the platform has something of them, and, for the guard, when each source had one.
 * All times in epoch milliseconds. Methods throw `StateFileError`.
 */
export class RemovalStore {
  readonly #change: Change;
  readonly #durable: () => Promise<void>;

  constructor(change: Change, durable: () => Promise<void>) {
    this.#change = change;
    this.#durable = durable;
  }

  /** Notes that a tombstone is about to be left for a file; durable once the promise resolves, which must be before its upsert. */
  async beginRemoving({ target, key }: RowId, nowMs: number): Promise<void> {
    this.#change(
      `UPDATE file SET state = 'removing', sha256 = NULL, expires_at = NULL, failure = NULL, verdict = NULL,
         ask_at = NULL, changed_at = ? WHERE target = ? AND key = ?`,
      ...[nowMs, target, key],
    );
    await this.#durable();
  }

  /**
   * Notes that a file is about to be deleted; durable once the promise resolves, which must be before it is asked for. Its
   * hash stays where it is certain: another attempt, perhaps after a crash, has to tell that the file is still the same. It is not
   * where something else of ours may have arrived late.
   */
  async beginDeleting({ target, key }: RowId, nowMs: number): Promise<void> {
    this.#change(
      `UPDATE file SET state = 'removing', sha256 = iif(state IN ('synced', 'removing') AND NOT ${IS_SUSPECT}, sha256, NULL),
         expires_at = NULL, failure = NULL, verdict = NULL, ask_at = NULL, changed_at = ?
       WHERE target = ? AND key = ?`,
      ...[nowMs, target, key],
    );
    await this.#durable();
  }

  /** Records that the platform has nothing of a removed file any more. Its row is dropped, or kept as long as something may arrive late. */
  recordDeleted({ target, key }: RowId, source: string, nowMs: number): void {
    const again =
      'SELECT again_at FROM suspect WHERE suspect.target = file.target AND suspect.key = file.key';
    this.#change(
      `UPDATE file SET expires_at = (${again}), changed_at = ? WHERE target = ? AND key = ? AND state = 'removing' AND ${IS_SUSPECT}`,
      ...[nowMs, target, key],
    );
    this.#change(
      "DELETE FROM file WHERE target = ? AND key = ? AND state = 'removing' AND expires_at IS NULL",
      ...[target, key],
    );
    this.note(source, nowMs);
  }

  /** Records that an empty file that expires then stands in a file's place. */
  recordRemoved({ target, key }: RowId, source: string, expiresAtMs: number, nowMs: number): void {
    this.#change(
      "UPDATE file SET expires_at = ?, changed_at = ? WHERE target = ? AND key = ? AND state = 'removing'",
      ...[expiresAtMs, nowMs, target, key],
    );
    this.note(source, nowMs);
  }

  /** Notes why a file could not be removed; `null`: nobody wants that any more. */
  recordFailure({ target, key }: RowId, failure: string | null, nowMs: number): void {
    this.#change(
      "UPDATE file SET failure = ?, changed_at = ? WHERE target = ? AND key = ? AND state = 'removing'",
      ...[failure, nowMs, target, key],
    );
  }

  /** Counts a removal, for the guard. */
  note(source: string, nowMs: number): void {
    this.#change('INSERT INTO removal (source, at) VALUES (?, ?)', source, nowMs);
  }

  /** Drops the removals of a source that the guard counts: someone has checked them. */
  forget(source: string): void {
    this.#change('DELETE FROM removal WHERE source = ?', source);
  }

  /** Drops the rows of removed files that have expired by now, and removals too old for the guard to count. */
  dropExpired(nowMs: number, countedSinceMs: number): void {
    this.#change(
      `DELETE FROM file WHERE state = 'removing' AND expires_at <= ? AND NOT ${IS_SUSPECT}`,
      nowMs,
    );
    this.#change('DELETE FROM removal WHERE at < ?', countedSinceMs);
  }
}
