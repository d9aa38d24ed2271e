import { troubleOf } from './database.ts';

/** A row that came from the ledger is none that botsync wrote: somebody, or something, changed it there. */
export class UnreadableRowError extends Error {
  /** @param row - what it is of, for people. */
  constructor(row: string, why: string, options?: ErrorOptions) {
    super(`${row} (${why})`, options);
    this.name = 'UnreadableRowError';
  }
}

/** What is thrown where a row could not be taken over: the file system's own word, or that it is no such row. */
export function whyUnreadable(row: string, error: unknown): unknown {
  const trouble = troubleOf(error);
  if (trouble === 'unwritable' || trouble === 'busy') return error;
  return new UnreadableRowError(row, (error as Error).message, { cause: error });
}

/** What people are told of a row that cannot be read. `unit`: its name. */
export function describeUnreadable(unit: string, { message }: UnreadableRowError): string {
  return `a record of ${unit} in the ledger cannot be read: ${message}; delete this row, or restore a backup of the database`;
}
