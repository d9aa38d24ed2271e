import type { LedgerSettings } from '../shared-ledger.ts';
import type { Sql } from './sql.ts';
import { quoted } from './schema.ts';

/**
 * The configuration of each source in the ledger, and the last one of each host. Both outlive the hosts. Methods throw
 * `DatabaseError`.
 */
export class SourceSettings implements LedgerSettings {
  readonly #sql: Sql;
  readonly #schema: string;

  constructor(sql: Sql, schema: string) {
    this.#sql = sql;
    this.#schema = quoted(schema);
  }

  /**
   * Offers a host's configuration of sources, JSON by name. The first configuration of a source is kept; a host that offered a
   * different one before replaces it. Returns the configuration in the ledger.
   */
  async bring(host: string, settings: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>> {
    const s = this.#schema;
    await this.#sql(
      `WITH given AS MATERIALIZED (
         SELECT given.name, given.settings, brought.settings AS before
         FROM json_to_recordset($2) AS given (name text, settings text)
         LEFT JOIN ${s}.brought AS brought ON brought.host = $1 AND brought.source = given.name),
       kept AS (
         INSERT INTO ${s}.brought (host, source, settings) SELECT $1, name, settings FROM given
         ON CONFLICT (host, source) DO UPDATE SET settings = excluded.settings)
       INSERT INTO ${s}.source AS source (name, settings) SELECT name, settings FROM given
       ON CONFLICT (name) DO UPDATE SET settings = excluded.settings
       WHERE EXISTS (SELECT FROM given WHERE given.name = source.name AND given.before <> given.settings)`,
      [host, JSON.stringify([...settings].map(([name, text]) => ({ name, settings: text })))],
    );
    const rows = await this.#sql(`SELECT name, settings FROM ${s}.source WHERE name = ANY ($1::text[])`, [
      [...settings.keys()],
    ]);
    return new Map(rows.map((row) => [String(row['name']), String(row['settings'])]));
  }
}
