import type { Query } from './database.ts';
import { PAGE_ROWS } from './record-cursor.ts';
import { isMoment, isText, mustMakeSense } from './soundness.ts';

/** A file that is to be sent again before it expires. `renewAtMs`: epoch milliseconds. */
export interface RenewalDue {
  readonly path: string;
  readonly renewAtMs: number;
}

/** Which files are to be sent again before they expire. Moments are by the platform's time. Methods throw `StateFileError`. */
export class RenewalReader {
  readonly #query: Query;

  constructor(query: Query) {
    this.#query = query;
  }

  /** How many files of a source should have been renewed by a moment, and were not. */
  countOverdue(target: number, source: string, sinceMs: number): number {
    const [row] = this.#query(
      `SELECT count(*) FROM file INDEXED BY file_renewal
       WHERE renew_at <= ? AND target = ? AND source = ? AND absence IS NULL`,
      ...[sinceMs, target, source],
    );
    return Number(row?.[0]);
  }

  /**
   * A page of files of a source that are to be renewed by a moment, by that moment and path.
   *
   * @param failedUntilMs - also those that failed, and expire from now until then.
   */
  due(
    target: number,
    source: string,
    untilMs: number,
    failedUntilMs: number,
    after: RenewalDue | null,
  ): RenewalDue[] {
    const rows = this.#query(
      `SELECT path, renew_at FROM file INDEXED BY file_renewal
       WHERE target = ? AND source = ? AND renew_at <= ? AND (renew_at, path) > (?, ?)
         AND (state = 'synced' OR (state = 'failed' AND expires_at > ? AND expires_at <= ?)) AND absence IS NULL
       ORDER BY renew_at, path LIMIT ${PAGE_ROWS}`,
      ...[target, source, untilMs, after?.renewAtMs ?? 0, after?.path ?? '', untilMs, failedUntilMs],
    );
    return rows.map(([path, renewAtMs]) => ({ path, renewAtMs }) as RenewalDue);
  }

  /** The files of a source that are to be renewed next, at most `limit`. */
  next(target: number, source: string, limit: number): (RenewalDue & { readonly expiresAtMs: number })[] {
    const rows = this.#query(
      `SELECT path, renew_at, expires_at FROM file INDEXED BY file_renewal
       WHERE target = ? AND source = ? AND renew_at IS NOT NULL AND expires_at IS NOT NULL AND absence IS NULL
       ORDER BY renew_at, path LIMIT ?`,
      ...[target, source, limit],
    );
    mustMakeSense(rows.every(([path, ...moments]) => isText(path) && moments.every(isMoment)));
    return rows.map(([path, renewAtMs, expiresAtMs]) => ({
      path: path as string,
      renewAtMs: renewAtMs as number,
      expiresAtMs: expiresAtMs as number,
    }));
  }
}
