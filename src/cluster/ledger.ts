import type { Sql, SqlRow } from './database.ts';
import { inherit, type Inheritance } from './inherit.ts';
import { isInPart, partsOfUnit, type Answer, type Asking } from './parts-of-a-unit.ts';
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
  readonly #asking: (answer: Answer) => Asking;
  readonly #shipText: string;

  constructor(sql: Sql, schema: string) {
    this.#sql = sql;
    this.#schema = quoted(schema);
    this.#asking = (answer) => ({ sql, schema, answer });
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
   * Drops all rows of a unit that is held by this grant, to be shipped again, a part of them at a time. A database that does not even
   * know of the grant is told: who took it since has a later epoch. Gives how many shipments it has had then; `null`: it is not held
   * by this grant. Nothing may be shipped meanwhile.
   *
   * @param mayBegin - whether nobody else can have the unit now: whoever has it in a database that went back may have an epoch that is
   *   lower than ours.
   */
  async clear(grant: Grant, host: string, mayBegin: () => boolean): Promise<number | null> {
    const seq = await this.#beginAnew(grant, host, mayBegin);
    if (seq === null) return null;
    const s = this.#schema;
    const fence = `WITH fence AS (
      SELECT id FROM ${s}.unit WHERE id = $1 AND epoch = $2 AND holder = $3 AND seq = $4 FOR UPDATE)`;
    const values = [grant.unit, grant.epoch, grant.instance, seq];
    for await (const part of partsOfUnit(this.#asking(once), grant.unit))
      await this.#sql(
        `${fence} DELETE FROM ${s}.file AS file USING fence WHERE file.unit = fence.id AND ${isInPart('file.key_hash', 5)}`,
        [...values, ...part],
      );
    await this.#sql(
      `${fence} DELETE FROM ${s}.entry AS entry USING fence WHERE entry.unit = fence.id`,
      values,
    );
    return seq;
  }

  /** Has whatever was sent before under this grant do nothing any more, also what comes late. Gives how many shipments there are then. */
  async #beginAnew(
    { unit, epoch, instance }: Grant,
    host: string,
    mayBegin: () => boolean,
  ): Promise<number | null> {
    const s = this.#schema;
    // What was sent before may change how many there are just now: it does so once.
    for (let tries = 0; tries < 2; tries += 1) {
      const [known] = await this.#sql(`SELECT epoch, seq FROM ${s}.unit WHERE id = $1`, [unit]);
      if (known === undefined || !mayBegin()) return null;
      const [row] = await this.#sql(
        `UPDATE ${s}.unit SET seq = seq + 1, beat = beat + 1, epoch = $2, holder = $3, holder_host = $4
         WHERE id = $1 AND pinned IS NULL AND (epoch < $2 OR (epoch = $2 AND holder = $3)) AND epoch = $5 AND seq = $6
         RETURNING seq`,
        [unit, epoch, instance, host, known['epoch'], known['seq']],
      );
      if (row !== undefined) return Number(row['seq']);
    }
    return null;
  }

  /** Lets go of a unit. Where it is not held by this grant any more nothing happens. */
  async release({ unit, epoch, instance }: Grant): Promise<void> {
    await this.#sql(
      `UPDATE ${this.#schema}.unit SET holder = NULL, beat = beat + 1 WHERE id = $1 AND epoch = $2 AND holder = $3`,
      [unit, epoch, instance],
    );
  }

  /** The rows of a unit, a page at a time; of tables of which each host has its own those of `host`. */
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

  /** See `inherit`. */
  async inherit(grant: Grant, what: Inheritance, answer: Answer = once): Promise<number> {
    return await inherit(this.#asking(answer), grant, what);
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
