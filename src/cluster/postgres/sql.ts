/** Runs one statement in a transaction of its own, and returns its rows. Throws `DatabaseError`. */
export type Sql = (text: string, values?: readonly unknown[]) => Promise<readonly SqlRow[]>;

/** A row by the names of its columns. */
export type SqlRow = Readonly<Record<string, unknown>>;
