import { canonicalJson } from '../domain/json.ts';
import { obstacleSchema, type Obstacle } from '../domain/obstacle.ts';
import { isText, mustMakeSense, type Change, type Query } from './database.ts';

/** A file that could not be sent and has no record that says so. */
export interface Problem {
  readonly source: string;
  readonly path: string;
  readonly key: string | null;
  readonly kind: 'refuse' | 'problem' | 'pending';
  readonly reason: Obstacle;
}

/** Stores problems of files without a record. Methods throw `StateFileError`. */
export class ProblemStore {
  readonly #query: Query;
  readonly #change: Change;

  constructor(query: Query, change: Change) {
    this.#query = query;
    this.#change = change;
  }

  /** Records a problem as seen by a pass, see `dropBefore`. */
  note({ source, path, key, kind, reason }: Problem, pass: number): void {
    this.#change(
      'INSERT OR REPLACE INTO problem (source, path, key, kind, reason, pass) VALUES (?, ?, ?, ?, ?, ?)',
      ...[source, path, key, kind, textOf(reason), pass],
    );
  }

  /** Returns whether the same problem is already recorded. */
  has({ source, path, kind, reason }: Problem): boolean {
    const [row] = this.#query('SELECT kind, reason FROM problem WHERE source = ? AND path = ?', source, path);
    return row?.[0] === kind && row[1] === textOf(reason);
  }

  /** Drops the problems of a path and of everything below it. */
  dropAt(source: string, path: string): void {
    this.#change('DELETE FROM problem WHERE source = ? AND path = ?', source, path);
    this.#change(
      "DELETE FROM problem WHERE source = ? AND path >= ? || '/' AND path < ? || '0'",
      ...[source, path, path],
    );
  }

  /** Drops the problems of a source that were last seen before a pass. */
  dropBefore(source: string, pass: number): void {
    this.#change('DELETE FROM problem WHERE source = ? AND pass < ?', source, pass);
  }
}

/** Equal reasons have equal texts. */
function textOf(reason: Obstacle): string {
  return canonicalJson(reason);
}

/**
 * Returns the reason in a row. `form`: `problem`: JSON of the table `problem`; `removal`: the message of a failed removal; `text`:
 * the text of a record.
 */
export function reasonOf(text: unknown, form: unknown): string | Obstacle {
  mustMakeSense(isText(text));
  switch (form) {
    case 'problem':
      return parseObstacle(text);
    case 'removal':
      return { kind: 'not-removed', message: text };
    default:
      return text;
  }
}

function parseObstacle(text: string): Obstacle {
  let value: unknown = null;
  try {
    value = JSON.parse(text);
  } catch {
    // `null` is no obstacle: `mustMakeSense` throws below.
  }
  const obstacle = obstacleSchema.safeParse(value);
  mustMakeSense(obstacle.success);
  return obstacle.data;
}
