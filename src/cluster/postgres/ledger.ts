import type { Answer, Grant, LedgerRows, RowPage, Shipped, ShippedRows, Target } from '../shared-ledger.ts';
import type { Sql, SqlRow } from './sql.ts';
import { quoted } from './schema.ts';

/** The approximate number of rows read at a time. */
const PAGE_ROWS = 5000;

/** Enough rows to tell whether a directory can be that of a unit: the sample is spread evenly over its files. */
const SAMPLE_ROWS = 500;

/** Reads and writes the rows of units. Methods throw `DatabaseError`. */
export class Ledger implements LedgerRows {
  readonly #sql: Sql;
  readonly #schema: string;
  readonly #shipText: string;

  constructor(sql: Sql, schema: string) {
    this.#sql = sql;
    this.#schema = quoted(schema);
    this.#shipText = shipStatement(this.#schema);
  }

  async targets(): Promise<Target[]> {
    const rows = await this.#sql(
      `SELECT id, base_url, bot_id, identity FROM ${this.#schema}.target ORDER BY id`,
    );
    return rows.map(toTarget);
  }

  /** Returns a target with its number, which a new target gets. */
  async target({ baseUrl, botId, identity }: Omit<Target, 'id'>): Promise<Target> {
    // The update changes nothing, but without it an existing row is not returned.
    const rows = await this.#sql(
      `INSERT INTO ${this.#schema}.target AS known (base_url, bot_id, identity) VALUES ($1, $2, $3)
       ON CONFLICT (base_url, bot_id, identity) DO UPDATE SET identity = known.identity RETURNING *`,
      [baseUrl, botId, identity],
    );
    const [row] = rows;
    if (row === undefined) throw new Error('no target');
    return toTarget(row);
  }

  /**
   * Writes changed rows if this grant still holds the unit and nothing was shipped since. One statement does both, so that it is
   * the fence. A shipment whose answer was lost may be repeated: it counts once.
   *
   * @param seq - the number of shipments of this unit before.
   * @param host - the owner of rows in tables where each host has its own.
   */
  async ship(grant: Grant, seq: number, host: string, rows: ShippedRows): Promise<Shipped> {
    const values = [
      grant.unit,
      grant.epoch,
      grant.instance,
      seq,
      host,
      rows.files,
      rows.droppedFiles,
      rows.entries,
    ];
    const ask = async (): Promise<SqlRow | undefined> => (await this.#sql(this.#shipText, values))[0];
    let answer = await ask();
    // An earlier attempt whose answer was lost still held the unit's row: this one waited for it, and then saw the previous row.
    if (hasStoodStill(answer, grant, seq)) answer = await ask();
    if (answer?.['fenced'] === null || answer?.['fenced'] === undefined)
      return this.#whyNot(answer, grant, seq);
    return Number(answer['given']) === Number(answer['put']) ? 'taken' : 'foreign';
  }

  /** Records that a unit was compared with the platform. Does nothing if this grant no longer holds the unit. */
  async noteCompared({ unit, epoch, instance }: Grant): Promise<void> {
    await this.#sql(
      `UPDATE ${this.#schema}.unit SET is_in_doubt = false, beat = beat + 1 WHERE id = $1 AND epoch = $2 AND holder = $3`,
      [unit, epoch, instance],
    );
  }

  /** Releases a unit. Does nothing if this grant no longer holds it. */
  async release({ unit, epoch, instance }: Grant): Promise<void> {
    await this.#sql(
      `UPDATE ${this.#schema}.unit SET holder = NULL, beat = beat + 1 WHERE id = $1 AND epoch = $2 AND holder = $3`,
      [unit, epoch, instance],
    );
  }

  /** Reads the rows of a unit page by page, with those of `host` in tables where each host has its own. */
  async *rows(unit: number, host: string, answer: Answer = once): AsyncGenerator<RowPage> {
    const s = this.#schema;
    const entries = await answer(() =>
      this.#sql(
        `SELECT coalesce(string_agg(body::text, ','), '') AS rows FROM ${s}.entry WHERE unit = $1 AND host IN ('', $2)`,
        [unit, host],
      ),
    );
    yield { files: '[]', entries: `[${textOf(entries[0]?.['rows'])}]` };
    const [counted] = await answer(() =>
      this.#sql(`SELECT count(*) AS count FROM ${s}.file WHERE unit = $1`, [unit]),
    );
    const pages = Math.ceil(Number(counted?.['count']) / PAGE_ROWS);
    // Hashes are spread evenly: a range of them needs no sorting, and uses the index without statistics.
    for (let page = 0; page < pages; page += 1) {
      const part = [hashAt(page / pages), page + 1 === pages ? null : hashAt((page + 1) / pages)];
      const [read] = await answer(() =>
        this.#sql(
          `SELECT string_agg(body::text, ',') AS rows FROM ${s}.file
           WHERE unit = $1 AND target = (SELECT target FROM ${s}.unit WHERE id = $1)
             AND key_hash >= $2 AND ($3::bytea IS NULL OR key_hash < $3)`,
          [unit, ...part],
        ),
      );
      yield { files: `[${textOf(read?.['rows'])}]`, entries: '[]' };
    }
  }

  /** Returns rows of a unit's other tables by host ('' for rows that count on all hosts), as JSON arrays. */
  async entriesByHost(unit: number, hosts: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#sql(
      `SELECT host, coalesce(string_agg(body::text, ','), '') AS rows FROM ${this.#schema}.entry
       WHERE unit = $1 AND host = ANY ($2::text[]) GROUP BY host`,
      [unit, ['', ...hosts]],
    );
    return new Map(rows.map((row) => [String(row['host']), `[${String(row['rows'])}]`]));
  }

  /** Returns the number of each unit's files in each state. */
  async countFiles(): Promise<Map<number, Map<string, number>>> {
    const rows = await this.#sql(
      `SELECT unit, state, count(*) AS count FROM ${this.#schema}.file GROUP BY unit, state ORDER BY state`,
    );
    const counts = new Map<number, Map<string, number>>();
    for (const row of rows) {
      const unit = Number(row['unit']);
      const ofUnit = counts.get(unit) ?? new Map<string, number>();
      counts.set(unit, ofUnit.set(String(row['state']), Number(row['count'])));
    }
    return counts;
  }

  /** Reads some files of a unit, and the rows of a host about its directories. */
  async sample(unit: number, host: string): Promise<RowPage> {
    const s = this.#schema;
    const [row] = await this.#sql(
      `SELECT
         (SELECT string_agg(body::text, ',') FROM ${s}.entry WHERE unit = $1 AND host = $2) AS entries,
         (SELECT string_agg(body::text, ',') FROM (
            SELECT body FROM ${s}.file WHERE unit = $1 AND target = (SELECT target FROM ${s}.unit WHERE id = $1)
            ORDER BY key_hash LIMIT ${SAMPLE_ROWS}) AS sampled) AS files`,
      [unit, host],
    );
    return { files: `[${textOf(row?.['files'])}]`, entries: `[${textOf(row?.['entries'])}]` };
  }

  #whyNot(answer: SqlRow | undefined, grant: Grant, seq: number): Shipped {
    if (typeof answer?.['epoch'] !== 'string') return 'lost';
    const isOurs = answer['holder'] === grant.instance && Number(answer['epoch']) === grant.epoch;
    if (!isOurs) return 'lost';
    // The shipment was recorded and its answer lost: no other process ships under this epoch.
    if (Number(answer['seq']) > seq) return 'taken';
    return 'lost';
  }
}

function once<T>(question: () => Promise<T>): Promise<T> {
  return question();
}

/** Returns whether the fence refused although the unit, at the start of the statement, was as expected. */
function hasStoodStill(answer: SqlRow | undefined, { epoch, instance }: Grant, seq: number): boolean {
  if (typeof answer?.['epoch'] !== 'string' || typeof answer['fenced'] === 'string') return false;
  return Number(answer['epoch']) === epoch && answer['holder'] === instance && Number(answer['seq']) === seq;
}

/** Returns the hash at a fraction (0 to 1) of all hashes. */
function hashAt(part: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(Math.floor(part * 2 ** 32));
  return bytes;
}

/** The aggregate of no rows is not a text. */
function textOf(rows: unknown): string {
  return typeof rows === 'string' ? rows : '';
}

function toTarget(row: SqlRow): Target {
  return {
    id: Number(row['id']),
    baseUrl: String(row['base_url']),
    botId: String(row['bot_id']),
    identity: String(row['identity']),
  };
}

/**
 * $1 unit, $2 epoch, $3 process, $4 shipments before, $5 host, $6 files, $7 dropped files, $8 other rows. If the fence refuses, the
 * unit is returned without `fenced`. A file of a unit that nobody holds becomes this unit's: its source was renamed, or moved to
 * another unit.
 */
function shipStatement(s: string): string {
  const hash = (key: string): string => `sha256(convert_to(${key}, 'UTF8'))`;
  return `WITH fence AS (
      UPDATE ${s}.unit SET seq = seq + 1, beat = beat + 1
      WHERE id = $1 AND epoch = $2 AND holder = $3 AND seq = $4 RETURNING seq),
    given AS MATERIALIZED (
      SELECT value, part.* FROM fence, json_array_elements($6::json),
        json_to_record(value) AS part (target integer, key text, state text)),
    put AS (
      INSERT INTO ${s}.file AS file (target, key_hash, unit, epoch, state, body)
      SELECT target, ${hash('key')}, $1, $2, state, value FROM given
      ON CONFLICT (target, key_hash) DO UPDATE
        SET unit = excluded.unit, epoch = excluded.epoch, state = excluded.state, body = excluded.body
      WHERE file.unit = excluded.unit
        OR NOT EXISTS (SELECT FROM ${s}.unit WHERE id = file.unit AND holder IS NOT NULL) RETURNING 1),
    dropped AS (
      DELETE FROM ${s}.file AS file USING fence, json_array_elements($7::json) AS gone
      WHERE file.target = (gone.value ->> 0)::integer AND file.key_hash = ${hash('gone.value ->> 1')} AND file.unit = $1),
    entries AS MATERIALIZED (
      SELECT value ->> 'tbl' AS tbl, CASE WHEN value ->> 'ofHost' = '1' THEN $5 ELSE '' END AS host,
        ${hash("value ->> 'key'")} AS key_hash, value, value ->> 'body' IS NULL AS is_gone
      FROM fence, json_array_elements($8::json)),
    entries_put AS (
      INSERT INTO ${s}.entry (unit, tbl, host, key_hash, body)
      SELECT $1, tbl, host, key_hash, value FROM entries WHERE NOT is_gone
      ON CONFLICT (unit, tbl, host, key_hash) DO UPDATE SET body = excluded.body),
    entries_gone AS (
      DELETE FROM ${s}.entry AS entry USING entries
      WHERE entries.is_gone AND entry.unit = $1 AND entry.tbl = entries.tbl AND entry.host = entries.host
        AND entry.key_hash = entries.key_hash)
    SELECT (SELECT seq FROM fence) AS fenced, (SELECT count(*) FROM given) AS given, (SELECT count(*) FROM put) AS put,
      unit.epoch, unit.seq, unit.holder
    FROM (SELECT) AS always LEFT JOIN ${s}.unit AS unit ON unit.id = $1`;
}
