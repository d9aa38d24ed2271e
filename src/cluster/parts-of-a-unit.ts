import type { Sql } from './database.ts';
import { quoted } from './schema.ts';

/** Most files that are changed at a time: the leases of a host cannot be proven while a statement has its unit. */
const PART_FILES = 5000;

/** Some files of a unit: those with hashes above the one and up to the other; `null`: without an end there. */
export type Part = readonly [above: Buffer | null, upTo: Buffer | null];

/** Asks the database one of several questions, and gives its answer; it may ask more than once. */
export type Answer = <T>(question: () => Promise<T>) => Promise<T>;

/** How the ledger is asked. */
export interface Asking {
  readonly sql: Sql;
  readonly schema: string;
  readonly answer: Answer;
}

/** Divides the files that a unit has into parts, by their hashes; each is looked for after what is done with the one before. Throws `DatabaseError`. */
export async function* partsOfUnit({ sql, schema, answer }: Asking, unit: number): AsyncGenerator<Part> {
  const text = `SELECT key_hash FROM ${quoted(schema)}.file WHERE unit = $1 AND ($2::bytea IS NULL OR key_hash > $2)
    ORDER BY target, key_hash OFFSET ${PART_FILES - 1} LIMIT 1`;
  const lastAbove = async (above: Buffer | null): Promise<Buffer | null> => {
    const [last] = await answer(() => sql(text, [unit, above]));
    return (last?.['key_hash'] as Buffer | undefined) ?? null;
  };
  let above: Buffer | null = null;
  do {
    const upTo: Buffer | null = await lastAbove(above);
    yield [above, upTo];
    above = upTo;
  } while (above !== null);
}

/** SQL for whether a hash is in a part, whose ends are parameters with these numbers. */
export function isInPart(hash: string, above: number): string {
  return `($${above}::bytea IS NULL OR ${hash} > $${above}) AND ($${above + 1}::bytea IS NULL OR ${hash} <= $${above + 1})`;
}
