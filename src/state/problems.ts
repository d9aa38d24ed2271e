import type { Query } from './database.ts';
import type { Change } from './notices.ts';

/** A file that could not be sent and has no row of its own to say so. */
export interface Problem {
  readonly source: string;
  readonly path: string;
  readonly key: string | null;
  readonly kind: 'refuse' | 'problem' | 'pending';
  readonly reason: string;
}

/** The files that could not be sent and have no row of their own to say so. Methods throw `StateFileError`. */
export class ProblemStore {
  readonly #query: Query;
  readonly #change: Change;

  constructor(query: Query, change: Change) {
    this.#query = query;
    this.#change = change;
  }

  /** Notes a file that could not be sent; the number of the pass tells it from one that is over. */
  note({ source, path, key, kind, reason }: Problem, pass: number): void {
    this.#change(
      'INSERT OR REPLACE INTO problem (source, path, key, kind, reason, pass) VALUES (?, ?, ?, ?, ?, ?)',
      ...[source, path, key, kind, reason, pass],
    );
  }

  /** Whether the same is on record of a file already. */
  has({ source, path, kind, reason }: Problem): boolean {
    const [row] = this.#query('SELECT kind, reason FROM problem WHERE source = ? AND path = ?', source, path);
    return row?.[0] === kind && row[1] === reason;
  }

  /** Drops the problems of a path and of what lies below it, which is rescanned. */
  dropAt(source: string, path: string): void {
    this.#change('DELETE FROM problem WHERE source = ? AND path = ?', source, path);
    this.#change(
      "DELETE FROM problem WHERE source = ? AND path >= ? || '/' AND path < ? || '0'",
      ...[source, path, path],
    );
  }

  /** Drops the problems of a source that a pass did not see again. */
  dropBefore(source: string, pass: number): void {
    this.#change('DELETE FROM problem WHERE source = ? AND pass < ?', source, pass);
  }
}
