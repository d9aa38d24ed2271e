import { IS_PUT_AWAY, IS_SUSPECT, type RowId } from './file-reader.ts';
import type { Change } from './database.ts';

/** A file on the platform that has the mark of a source and no record. */
export interface Orphan {
  readonly source: string;
  /** The path that gives its key. */
  readonly path: string;
  readonly remoteId: string;
  readonly sizeBytes: number;
  /** From its mark. */
  readonly sha256: Buffer;
}

/**
 * Records removals: files deleted here that the platform still has, and, for the guard, the time of each removal.
 * All times in epoch milliseconds. Methods throw `StateFileError`.
 */
export class RemovalStore {
  readonly #change: Change;
  readonly #durable: () => Promise<void>;

  constructor(change: Change, durable: () => Promise<void>) {
    this.#change = change;
    this.#durable = durable;
  }

  /**
   * Records the intent to leave a tombstone. Its upsert must wait for the promise: the intent is durable then. Until the removal is
   * recorded the platform may have the file, even one that was never known to be sent.
   */
  async beginRemoving({ target, key }: RowId, nowMs: number): Promise<void> {
    this.#change(
      `UPDATE file SET state = 'removing', uploaded = 1, sha256 = NULL, expires_at = NULL, failure = NULL, verdict = NULL,
         ask_at = NULL, changed_at = ? WHERE target = ? AND key = ?`,
      ...[nowMs, target, key],
    );
    await this.#durable();
  }

  /**
   * Records the intent to delete a file. The request must wait for the promise: the intent is durable then. A certain hash is
   * kept, so that another attempt, perhaps after a crash, can tell that the file is still the same. The hash of a suspect is not
   * certain.
   */
  async beginDeleting({ target, key }: RowId, nowMs: number): Promise<void> {
    this.#change(
      `UPDATE file SET state = 'removing', uploaded = 1, sha256 = iif(state IN ('synced', 'removing') AND NOT ${IS_SUSPECT}, sha256, NULL),
         expires_at = NULL, failure = NULL, verdict = NULL, ask_at = NULL, changed_at = ?
       WHERE target = ? AND key = ?`,
      ...[nowMs, target, key],
    );
    await this.#durable();
  }

  /**
   * Records that the platform no longer has a removed file. The record is dropped, or kept while something may arrive late.
   *
   * @param source - for which the guard counts the removal; `null`: it does not count.
   */
  recordDeleted({ target, key }: RowId, source: string | null, nowMs: number): void {
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
    if (source !== null) this.note(source, nowMs);
  }

  /** Records that a tombstone, which expires then, replaced a file. `source`: see `recordDeleted`. */
  recordRemoved({ target, key }: RowId, source: string | null, expiresAtMs: number, nowMs: number): void {
    this.#change(
      "UPDATE file SET expires_at = ?, changed_at = ? WHERE target = ? AND key = ? AND state = 'removing'",
      ...[expiresAtMs, nowMs, target, key],
    );
    if (source !== null) this.note(source, nowMs);
  }

  /** Records why a removal failed; `null`: the removal is no longer wanted. */
  recordFailure({ target, key }: RowId, failure: string | null, nowMs: number): void {
    this.#change(
      "UPDATE file SET failure = ?, changed_at = ? WHERE target = ? AND key = ? AND state = 'removing'",
      ...[failure, nowMs, target, key],
    );
  }

  /** Has a kept file removed without delay and without the guard: somebody has seen it in a list. */
  prune({ target, key }: RowId): void {
    this.#change(
      "UPDATE file SET absence = 'pruned', absent_since = 0 WHERE target = ? AND key = ? AND absence = 'kept'",
      ...[target, key],
    );
  }

  /** Records an orphan that is to be removed. */
  noteOrphan(
    { target, key }: RowId,
    { source, path, remoteId, sizeBytes, sha256 }: Orphan,
    nowMs: number,
  ): void {
    const fingerprint = `${sizeBytes}:0:0:0`;
    this.dropPutAway({ target, key });
    this.#change(
      `INSERT INTO file (target, source, path, key, state, fingerprint, trusted, settings, absence, size_bytes, sha256,
         uploaded, marked, remote_id, absent_since, changed_at)
       VALUES (?, ?, ?, ?, 'synced', ?, 0, '', 'orphan', ?, ?, 1, 1, ?, ?9, ?9) ON CONFLICT (target, key) DO NOTHING`,
      ...[target, source, path, key, fingerprint, sizeBytes, sha256, remoteId, nowMs],
    );
  }

  /** Drops the record of a tombstone: the key has a file again. */
  dropPutAway({ target, key }: RowId): void {
    this.#change(`DELETE FROM file WHERE target = ? AND key = ? AND ${IS_PUT_AWAY}`, target, key);
  }

  /** Drops orphans whose removal has not begun: they are found again, or left alone. */
  forgetOrphans(): void {
    this.#change("DELETE FROM file WHERE absence = 'orphan' AND state = 'synced'");
  }

  /** Counts a removal for the guard. */
  note(source: string, nowMs: number): void {
    this.#change('INSERT INTO removal (source, at) VALUES (?, ?)', source, nowMs);
  }

  /** Resets the guard's count for a source: somebody has approved its removals. */
  forget(source: string): void {
    this.#change('DELETE FROM removal WHERE source = ?', source);
  }

  /** Drops records of expired tombstones, and removals that are too old for the guard. */
  dropExpired(nowMs: number, countedSinceMs: number): void {
    this.#change(
      `DELETE FROM file WHERE state = 'removing' AND expires_at <= ? AND NOT ${IS_SUSPECT}`,
      nowMs,
    );
    this.#change('DELETE FROM removal WHERE at < ?', countedSinceMs);
  }
}
