import { failed, ok, type LookupFailure, type Outcome } from '../../domain/failure.ts';
import { DatabaseError, type SharedConversations } from '../shared-ledger.ts';
import type { Sql } from './sql.ts';
import { quoted } from './schema.ts';

/**
 * The conversations of a cluster: notifications of all units go to the same one, whichever host holds them. An unreachable database
 * is a transient failure.
 */
export class Conversations implements SharedConversations {
  readonly #sql: Sql;
  readonly #table: string;
  /** Ids by purpose, kept after the first query. */
  readonly #known = new Map<string, string>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(sql: Sql, schema: string) {
    this.#sql = sql;
    this.#table = `${quoted(schema)}.conversation`;
  }

  /** Returns the id of the recorded conversation; `null`: none. */
  async find(purpose: string): Promise<Outcome<string | null, LookupFailure>> {
    const known = this.#known.get(purpose);
    if (known !== undefined) return ok(known);
    return await this.#ask(purpose, `SELECT id FROM ${this.#table} WHERE purpose = $1`, []);
  }

  /** Records a new conversation. Returns the id of the one that counts: another host may have been quicker. */
  async save(purpose: string, id: string): Promise<Outcome<string, LookupFailure>> {
    const saved = await this.#ask(
      purpose,
      `INSERT INTO ${this.#table} AS known (purpose, id) VALUES ($1, $2)
       ON CONFLICT (purpose) DO UPDATE SET id = known.id RETURNING id`,
      [id],
    );
    return saved.kind === 'ok' ? ok(saved.value ?? id) : saved;
  }

  /** Records that a message arrived, or that the conversation is missing: then it is forgotten if a message ever arrived there. */
  async learn(purpose: string, id: string, what: 'arrived' | 'missing'): Promise<void> {
    if (what === 'missing') this.#known.delete(purpose);
    const text =
      what === 'arrived'
        ? `UPDATE ${this.#table} SET proven = true WHERE purpose = $1 AND id = $2 AND NOT proven`
        : `DELETE FROM ${this.#table} WHERE purpose = $1 AND id = $2 AND proven`;
    // If this fails, the next message repeats it.
    await this.#sql(text, [purpose, id]).catch(failureOf);
  }

  /** Runs one task after the other. */
  async inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(task);
    this.#turn = turn.catch(() => undefined);
    return await turn;
  }

  async #ask(
    purpose: string,
    text: string,
    values: readonly unknown[],
  ): Promise<Outcome<string | null, LookupFailure>> {
    try {
      const [row] = await this.#sql(text, [purpose, ...values]);
      if (row === undefined) return ok(null);
      const id = String(row['id']);
      this.#known.set(purpose, id);
      return ok(id);
    } catch (error) {
      return failed(failureOf(error));
    }
  }
}

/** Rethrows errors that are not `DatabaseError`. */
function failureOf(error: unknown): LookupFailure {
  if (!(error instanceof DatabaseError)) throw error;
  return { kind: 'transient', message: `the database of the cluster: ${error.message}` };
}
