import type { EventKind, FileEvent, LoggedEvent } from '../domain/report.ts';
import { DAY_MS } from '../domain/history.ts';
import { isMoment, isText, mustMakeSense, type Change, type Query } from './database.ts';

/** Events are kept for this long, milliseconds, as far as there is room for them. */
export const EVENTS_KEPT_MS = 30 * DAY_MS;

/** The most events kept; the oldest go first. */
const MOST_EVENTS = 50_000;

/** The most events that wait to be written; the oldest are dropped. */
const MOST_PENDING = 10_000;

/** The most events dropped at a time because of their age: a clock that is ahead for a while must not erase all of them. */
const MOST_DROPPED = 2000;

const KINDS = new Set<unknown>([
  'upload',
  'renew',
  'update',
  'adopt',
  'remove',
  'skip',
  'refuse',
  'problem',
  'confirm',
] satisfies EventKind[]);

const OUTCOMES = new Set<unknown>([null, 'done', 'failed', 'stored', 'searchable']);

/** Reads what happened to single files. Methods throw `StateFileError`. */
export class FileLogReader {
  readonly #query: Query;

  constructor(query: Query) {
    this.#query = query;
  }

  /** The events of a file since a moment, the oldest first. */
  of(source: string, path: string, sinceMs: number): LoggedEvent[] {
    return this.#query(
      'SELECT at, kind, outcome, reason, error FROM file_event WHERE source = ? AND path = ? AND at >= ? ORDER BY number',
      ...[source, path, sinceMs],
    ).map((row) => toLogged(source, path, row));
  }
}

/** Gathers events in memory, and writes them after other writes. */
export class FileLogStore extends FileLogReader {
  readonly #run: Change;
  #pending: LoggedEvent[] = [];

  /** @param run - runs a statement in the open transaction. */
  constructor(query: Query, run: Change) {
    super(query);
    this.#run = run;
  }

  note(event: FileEvent, atMs: number): void {
    this.#pending.push({ atMs, event });
    if (this.#pending.length >= 2 * MOST_PENDING) this.#pending = this.#pending.slice(-MOST_PENDING);
  }

  get isPending(): boolean {
    return this.#pending.length > 0;
  }

  /** Writes all events. Events that cannot be written are dropped. */
  write(): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const { atMs, event } of pending) {
      const { source, path, kind, outcome = null, reason, error = null } = event;
      this.#run(
        'INSERT INTO file_event (source, path, at, kind, outcome, reason, error) VALUES (?, ?, ?, ?, ?, ?, ?)',
        ...[source, path, atMs, kind, outcome, reason, error],
      );
    }
    this.#run(`DELETE FROM file_event WHERE number <= (SELECT max(number) FROM file_event) - ${MOST_EVENTS}`);
  }

  dropOld(nowMs: number): void {
    this.#run(
      `DELETE FROM file_event WHERE number IN
         (SELECT number FROM file_event WHERE at < ? ORDER BY number LIMIT ${MOST_DROPPED})`,
      nowMs - EVENTS_KEPT_MS,
    );
  }
}

function toLogged(source: string, path: string, row: readonly unknown[]): LoggedEvent {
  const [atMs, kind, outcome, reason, error] = row;
  mustMakeSense(isMoment(atMs) && KINDS.has(kind) && OUTCOMES.has(outcome));
  mustMakeSense(isText(reason) && (error === null || isText(error)));
  return {
    atMs,
    event: {
      kind: kind as EventKind,
      source,
      path,
      reason,
      ...(outcome !== null && { outcome: outcome as NonNullable<FileEvent['outcome']> }),
      ...(error !== null && { error }),
    },
  };
}
