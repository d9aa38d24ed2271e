import type { Sql, SqlRow } from './database.ts';
import { quoted } from './schema.ts';

/** The right to work on a unit, as the database knows it. */
export interface Grant {
  readonly unit: number;
  readonly epoch: number;
  /** The process that has it. */
  readonly instance: string;
  /** Shipments that the unit had before. */
  readonly seq: number;
}

/** Changed rows, as JSON: see `Shipment` of the working copies. */
export interface ShippedRows {
  readonly files: string;
  readonly droppedFiles: string;
  readonly entries: string;
}

/**
 * What became of a shipment.
 * - `taken`: it is in the ledger.
 * - `lost`: somebody else has the unit, or nobody: nothing was written.
 * - `rewound`: the database is older than what it took before: nothing was written; all has to be shipped again.
 * - `foreign`: rows of it belong to another unit. The others were written.
 */
export type Shipped = 'taken' | 'lost' | 'rewound' | 'foreign';

/** A page of a unit's rows, as JSON arrays. */
export interface RowPage {
  readonly files: string;
  readonly entries: string;
}

/** A target with its number. */
export interface Target {
  readonly id: number;
  readonly baseUrl: string;
  readonly botId: string;
  readonly identity: string;
}

/** About so many rows are read at a time. */
const PAGE_ROWS = 5000;

/** The rows of units. Methods throw `DatabaseError`. */
export class Ledger {
  readonly #sql: Sql;
  readonly #schema: string;
  readonly #shipText: string;

  constructor(sql: Sql, schema: string) {
    this.#sql = sql;
    this.#schema = quoted(schema);
    this.#shipText = shipStatement(this.#schema);
  }

  /** All targets. */
  async targets(): Promise<Target[]> {
    const rows = await this.#sql(
      `SELECT id, base_url, bot_id, identity FROM ${this.#schema}.target ORDER BY id`,
    );
    return rows.map(toTarget);
  }

  /** A target, with a number from now on. */
  async target({ baseUrl, botId, identity }: Omit<Target, 'id'>): Promise<Target> {
    // The update changes nothing; without it nothing comes back of a row that was there.
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
   * Writes changed rows, if the unit is still held by this grant and nothing was shipped since: one statement, which is the
   * fence as well. A shipment whose answer was lost may be shipped again: it counts once.
   *
   * @param seq - how many shipments of this unit came before.
   * @param host - whose rows they are, of tables of which each host has its own.
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
    // An earlier sending of it, whose answer was given up, was still under way and held the unit: this one waited, and saw it as it was before.
    if (hasStoodStill(answer, grant, seq)) answer = await ask();
    if (answer?.['fenced'] === null || answer?.['fenced'] === undefined)
      return this.#whyNot(answer, grant, seq);
    return Number(answer['given']) === Number(answer['put']) ? 'taken' : 'foreign';
  }

  /**
   * Drops all rows of a unit that is held by this grant, to be shipped again. A database that does not even know of the grant is
   * told: who took it since has a later epoch. Gives how many shipments it has had then; `null`: it is not held by this grant.
   */
  async clear({ unit, epoch, instance }: Grant, host: string): Promise<number | null> {
    const s = this.#schema;
    const [row] = await this.#sql(
      `WITH fence AS (
         UPDATE ${s}.unit SET seq = seq + 1, beat = beat + 1, epoch = $2, holder = $3, holder_host = $4
         WHERE id = $1 AND pinned IS NULL AND (epoch < $2 OR (epoch = $2 AND holder = $3)) RETURNING id, seq),
       files AS (DELETE FROM ${s}.file AS file USING fence WHERE file.unit = fence.id),
       entries AS (DELETE FROM ${s}.entry AS entry USING fence WHERE entry.unit = fence.id)
       SELECT seq FROM fence`,
      [unit, epoch, instance, host],
    );
    return row === undefined ? null : Number(row['seq']);
  }

  /** Lets go of a unit. Where it is not held by this grant any more nothing happens. */
  async release({ unit, epoch, instance }: Grant): Promise<void> {
    await this.#sql(
      `UPDATE ${this.#schema}.unit SET holder = NULL, beat = beat + 1 WHERE id = $1 AND epoch = $2 AND holder = $3`,
      [unit, epoch, instance],
    );
  }

  /**
   * The rows of a unit, a page at a time; of tables of which each host has its own those of `host`.
   *
   * @param answer - asks the database one of several questions, and gives its answer; it may ask more than once.
   */
  async *rows(unit: number, host: string, answer = once): AsyncGenerator<RowPage> {
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
    // Hashes are spread evenly: a part of them needs no sorting, and is read by the index whatever the planner knows.
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

  /**
   * Takes over the records of units that nobody has in a configuration any more, as far as their keys begin with one of some prefixes:
   * one statement, which does nothing where the unit is not held by this grant, and leaves alone what somebody holds. What is not
   * about one key is copied, and goes once no file is left. Gives how many files were taken over.
   */
  async inherit(
    { unit, epoch, instance }: Grant,
    from: readonly number[],
    prefixes: readonly string[],
  ): Promise<number> {
    const [row] = await this.#sql(inheritStatement(this.#schema), [
      ...[unit, epoch, instance],
      JSON.stringify(from),
      JSON.stringify(prefixes.map((prefix) => prefix.normalize('NFC'))),
    ]);
    return Number(row?.['count'] ?? 0);
  }

  #whyNot(answer: SqlRow | undefined, grant: Grant, seq: number): Shipped {
    if (typeof answer?.['epoch'] !== 'string') return 'lost';
    // It does not know of the grant any more: epochs only grow.
    if (Number(answer['epoch']) < grant.epoch) return 'rewound';
    const isOurs = answer['holder'] === grant.instance && Number(answer['epoch']) === grant.epoch;
    if (!isOurs) return 'lost';
    // It was taken, and its answer was lost. No other process ships under this epoch.
    if (Number(answer['seq']) > seq) return 'taken';
    return Number(answer['seq']) < seq ? 'rewound' : 'lost';
  }
}

/** Asks the database a question as it is. */
function once<T>(question: () => Promise<T>): Promise<T> {
  return question();
}

/** Whether the fence let nothing through although the unit, as it was when the statement began, is where it is to be. */
function hasStoodStill(answer: SqlRow | undefined, { epoch, instance }: Grant, seq: number): boolean {
  if (typeof answer?.['epoch'] !== 'string' || typeof answer['fenced'] === 'string') return false;
  return Number(answer['epoch']) === epoch && answer['holder'] === instance && Number(answer['seq']) === seq;
}

/** The hash below which this part of all hashes are. */
function hashAt(part: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(Math.floor(part * 2 ** 32));
  return bytes;
}

/** Rows put together; none are no text. */
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
 * $1 unit, $2 epoch, $3 process, $4 shipments before, $5 host, $6 files, $7 dropped files, $8 other rows. Where the fence
 * lets nothing through, the unit as it is comes back without `fenced`.
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
      ON CONFLICT (target, key_hash) DO UPDATE SET epoch = excluded.epoch, state = excluded.state, body = excluded.body
      WHERE file.unit = excluded.unit RETURNING 1),
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

/** $1 unit, $2 epoch, $3 process, $4 numbers of units, $5 prefixes of keys. */
function inheritStatement(s: string): string {
  const isOurs = (key: string): string =>
    `EXISTS (SELECT FROM json_array_elements_text($5::json) AS prefix WHERE starts_with(${key}, prefix))`;
  const key = "entry.body -> 'body' ->> 'key'";
  return `WITH fence AS (SELECT target FROM ${s}.unit WHERE id = $1 AND epoch = $2 AND holder = $3 FOR UPDATE),
    former AS (
      UPDATE ${s}.unit AS unit SET epoch = unit.epoch + 1, beat = unit.beat + 1
      FROM fence
      WHERE unit.id IN (SELECT json_array_elements_text($4::json)::integer) AND unit.holder IS NULL AND unit.pinned IS NULL
        AND unit.target = fence.target RETURNING unit.id),
    emptied AS MATERIALIZED (
      SELECT id FROM former WHERE NOT EXISTS (
        SELECT FROM ${s}.file AS file WHERE file.unit = former.id AND NOT ${isOurs("file.body ->> 'key'")})),
    files AS (
      UPDATE ${s}.file AS file SET unit = $1 FROM former
      WHERE file.unit = former.id AND ${isOurs("file.body ->> 'key'")} RETURNING 1),
    entries AS MATERIALIZED (
      SELECT entry.* FROM ${s}.entry AS entry JOIN former ON entry.unit = former.id
      WHERE ${key} IS NULL OR ${isOurs(key)} OR entry.unit IN (SELECT id FROM emptied)),
    entries_put AS (
      INSERT INTO ${s}.entry (unit, tbl, host, key_hash, body)
      SELECT DISTINCT ON (tbl, host, key_hash) $1, tbl, host, key_hash, body FROM entries ORDER BY tbl, host, key_hash, unit
      ON CONFLICT DO NOTHING),
    entries_gone AS (
      DELETE FROM ${s}.entry AS entry USING entries AS gone
      WHERE entry.unit = gone.unit AND entry.tbl = gone.tbl AND entry.host = gone.host AND entry.key_hash = gone.key_hash
        AND (${key} IS NOT NULL OR entry.unit IN (SELECT id FROM emptied)))
    SELECT count(*) AS count FROM files`;
}
