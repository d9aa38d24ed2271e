import type { Sql, SqlRow } from './database.ts';
import type { Grant } from './ledger.ts';
import { quoted } from './schema.ts';

/** What a host tells the others of itself with each beat. */
export interface HostNews {
  readonly name: string;
  readonly instance: string;
  readonly weight: number;
  readonly version: string;
  /** Of the configuration, as far as hosts should agree. */
  readonly digest: string;
  /** Numbers of the units that it could take: its configuration has them, and it sees their directories. */
  readonly units: readonly number[];
  /** What it says of its sources; JSON. */
  readonly report: string | null;
}

/** A host as the ledger has it. */
export interface HostRow extends Omit<HostNews, 'report'> {
  readonly beat: number;
  /** `null`: none was given, or not asked for. */
  readonly report: unknown;
}

/** A source of a unit, as far as it matters for keys. */
export interface UnitSourceRow {
  readonly name: string;
  readonly keyPrefix: string;
}

/** A unit as the ledger has it. */
export interface UnitRow {
  readonly id: number;
  readonly target: number;
  readonly name: string;
  readonly sources: readonly UnitSourceRow[];
  readonly pinned: string | null;
  readonly epoch: number;
  readonly beat: number;
  readonly seq: number;
  readonly holder: string | null;
  readonly holderHost: string | null;
  /** All of it that was there so long ago is on the platform, milliseconds; `null`: that was never told. */
  readonly settledAgeMs: number | null;
}

/** What somebody wants of a unit's holder. */
export interface WishRow {
  readonly id: number;
  readonly unit: number;
  readonly kind: string;
  readonly body: unknown;
}

/** A unit that a host holds, or that is pinned to it, as it is proven with a beat. */
export interface Proof extends Pick<Grant, 'unit' | 'epoch'> {
  /** All that was there so long ago is on the platform, milliseconds; `null`: that is not known. */
  readonly settledAgeMs: number | null;
}

/** The database's clock, epoch milliseconds: only its differences are used. */
const NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** What a beat brings back. */
export interface ClusterView {
  /** Whether the ledger still has the host as this process: else another process has taken its name. */
  readonly isKnown: boolean;
  /** Numbers of the units whose leases it proved. */
  readonly proven: readonly number[];
  readonly hosts: readonly HostRow[];
  readonly units: readonly UnitRow[];
  readonly wishes: readonly WishRow[];
  /** Tells one run of the database from the next, and a server from the one that takes its place. */
  readonly databaseRun: string;
  /** The version of the tables, and of the rows in them. */
  readonly version: number;
  readonly stateVersion: number;
}

/** Who is there, and who has which unit. Methods throw `DatabaseError`. */
export class Membership {
  readonly #sql: Sql;
  readonly #schema: string;

  constructor(sql: Sql, schema: string) {
    this.#sql = sql;
    this.#schema = quoted(schema);
  }

  /** Takes a host's name for a process, in the place of the one before. */
  async join(news: HostNews): Promise<void> {
    const { name, instance, weight, version, digest, units, report } = news;
    await this.#sql(
      `INSERT INTO ${this.#schema}.host AS host (name, instance, weight, version, digest, units, report)
       VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (name) DO UPDATE SET instance = excluded.instance, beat = host.beat + 1, weight = excluded.weight,
         version = excluded.version, digest = excluded.digest, units = excluded.units`,
      [name, instance, weight, version, digest, JSON.stringify(units), storable(report)],
    );
  }

  /** Takes a host out that has ended. */
  async leave({ name, instance }: Pick<HostNews, 'name' | 'instance'>): Promise<void> {
    await this.#sql(`DELETE FROM ${this.#schema}.host WHERE name = $1 AND instance = $2`, [name, instance]);
  }

  /**
   * Proves that a host lives and the leases that it has, and looks at how everything stands: one statement. It is the only one
   * under leases that locks several units, and does so by their numbers: two of them never wait for each other.
   */
  async beat(news: HostNews, held: readonly Proof[]): Promise<ClusterView> {
    const { name, instance, weight, version, digest, units, report } = news;
    const [row] = await this.#sql(
      `WITH mine AS (
         UPDATE ${this.#schema}.host SET beat = beat + 1, weight = $3, version = $4, digest = $5, units = $6,
           report = coalesce($7, report) WHERE name = $1 AND instance = $2 RETURNING 1),
       held AS (
         UPDATE ${this.#schema}.unit AS unit SET beat = beat + 1,
           settled_at = greatest(settled_at, ${NOW_MS} - given.age)
         FROM (
           SELECT unit.id, given.epoch, given.age FROM ${this.#schema}.unit AS unit
           JOIN json_to_recordset($8) AS given (id integer, epoch bigint, age bigint) ON unit.id = given.id
           WHERE unit.epoch = given.epoch AND coalesce(unit.holder, unit.pinned) IN ($1, $2)
           ORDER BY unit.id FOR NO KEY UPDATE OF unit) AS given
         WHERE unit.id = given.id AND unit.epoch = given.epoch AND coalesce(unit.holder, unit.pinned) IN ($1, $2)
         RETURNING unit.id)
       SELECT (SELECT count(*) FROM mine) AS known, (SELECT json_agg(id) FROM held) AS proven, ${this.#view(HOST_COLUMNS)}`,
      [
        ...[name, instance, weight, version, digest, JSON.stringify(units), storable(report)],
        JSON.stringify(held.map(({ unit, epoch, settledAgeMs }) => ({ id: unit, epoch, age: settledAgeMs }))),
      ],
    );
    return toView(row);
  }

  /** How everything stands, without a beat. */
  async look(): Promise<ClusterView> {
    const [row] = await this.#sql(
      `SELECT 1 AS known, NULL AS proven, ${this.#view(`${HOST_COLUMNS}, report`)}`,
    );
    return toView(row);
  }

  /** A unit, which the ledger has from now on. */
  async declare({
    target,
    name,
    sources,
    pinned,
  }: Pick<UnitRow, 'target' | 'name' | 'sources' | 'pinned'>): Promise<UnitRow> {
    const [row] = await this.#sql(
      `INSERT INTO ${this.#schema}.unit AS unit (target, name, sources, pinned) VALUES ($1, $2, $3, $4)
       ON CONFLICT (target, name) DO UPDATE SET sources = excluded.sources, pinned = excluded.pinned RETURNING *`,
      [target, name, storable(JSON.stringify(sources)), pinned],
    );
    if (row === undefined) throw new Error('no unit');
    return toUnit(row, 0);
  }

  /**
   * Takes a unit, unless somebody was quicker or it is proven meanwhile: its epoch and its beat have to be as they were
   * seen. `null`: it was not to be had.
   *
   * @param highestEpoch - that was ever seen of it here: a database that went back in time must not give out one twice.
   */
  async claim(
    seen: UnitRow,
    highestEpoch: number,
    by: Pick<HostNews, 'name' | 'instance'>,
  ): Promise<Grant | null> {
    const [row] = await this.#sql(
      `UPDATE ${this.#schema}.unit SET epoch = greatest(epoch, $1) + 1, beat = beat + 1, holder = $2, holder_host = $3
       WHERE id = $4 AND epoch = $5 AND beat = $6 AND pinned IS NULL RETURNING epoch, seq`,
      [highestEpoch, by.instance, by.name, seen.id, seen.epoch, seen.beat],
    );
    if (row === undefined) return null;
    return { unit: seen.id, epoch: Number(row['epoch']), instance: by.instance, seq: Number(row['seq']) };
  }

  /** Asks something of the holder of a unit. */
  async wish(unit: number, kind: string, body: unknown): Promise<void> {
    await this.#sql(`INSERT INTO ${this.#schema}.wish (unit, kind, body) VALUES ($1, $2, $3)`, [
      unit,
      kind,
      storable(JSON.stringify(body)),
    ]);
  }

  /** Takes a wish off the list. `false`: somebody did before. */
  async takeWish(id: number): Promise<boolean> {
    return (await this.takeWishes([id])) > 0;
  }

  /** Takes several off the list. Gives how many were on it. */
  async takeWishes(ids: readonly number[]): Promise<number> {
    const rows = await this.#sql(
      `DELETE FROM ${this.#schema}.wish WHERE id = ANY ($1::bigint[]) RETURNING 1`,
      [ids],
    );
    return rows.length;
  }

  /**
   * Columns of json are handed on as they are: of a text that no jsonb can hold, in one row, no host is to stop.
   *
   * @param hostColumns - what is asked of hosts: reports are not needed with every beat.
   */
  #view(hostColumns: string): string {
    const all = (table: string, columns: string, key: string): string =>
      `(SELECT coalesce(json_agg(row_to_json(row) ORDER BY row.${key}), '[]')
        FROM (SELECT ${columns} FROM ${this.#schema}.${table}) AS row)`;
    return `${NOW_MS} AS now_ms, extract(epoch FROM pg_postmaster_start_time()) AS run, ${all('host', hostColumns, 'name')} AS hosts, ${all('unit', '*', 'id')} AS units, ${all('wish', '*', 'id')} AS wishes,
      (SELECT version FROM ${this.#schema}.meta) AS version, (SELECT state_version FROM ${this.#schema}.meta) AS state_version`;
  }
}

/** What every beat brings back of a host. */
const HOST_COLUMNS = 'name, instance, beat, weight, version, digest, units';

/** An escape of JSON; the group has one that PostgreSQL can make no text of: NUL, or half a surrogate pair. */
const ESCAPE = /\\(?:(u0000|ud[89a-f][0-9a-f]{2})|.)/gu;

/**
 * What `JSON.stringify` made, with U+FFFD in the place of what PostgreSQL cannot hold as text. Reading does without this, but not in
 * hosts of older versions: one such text would end the leases of all of them.
 */
function storable(json: string): string;
function storable(json: string | null): string | null;
function storable(json: string | null): string | null {
  return (
    json?.replace(ESCAPE, (escape, notHeld?: string) =>
      notHeld === undefined ? escape : String.raw`\ufffd`,
    ) ?? null
  );
}

function toView(row: SqlRow | undefined): ClusterView {
  if (row === undefined) throw new Error('no view');
  return {
    isKnown: Number(row['known']) > 0,
    proven: (row['proven'] as number[] | null) ?? [],
    hosts: (row['hosts'] as SqlRow[]).map(toHost),
    units: (row['units'] as SqlRow[]).map((unit) => toUnit(unit, Number(row['now_ms']))),
    wishes: row['wishes'] as WishRow[],
    databaseRun: String(row['run']),
    version: Number(row['version']),
    stateVersion: Number(row['state_version']),
  };
}

function toHost(row: SqlRow): HostRow {
  return {
    name: String(row['name']),
    instance: String(row['instance']),
    beat: Number(row['beat']),
    weight: Number(row['weight']),
    version: String(row['version']),
    digest: String(row['digest']),
    units: listOf(row['units'], (one): one is number => typeof one === 'number'),
    report: row['report'] ?? null,
  };
}

function toUnit(row: SqlRow, nowMs: number): UnitRow {
  return {
    id: Number(row['id']),
    target: Number(row['target']),
    name: String(row['name']),
    sources: listOf(row['sources'], isUnitSource),
    pinned: row['pinned'] as string | null,
    epoch: Number(row['epoch']),
    beat: Number(row['beat']),
    seq: Number(row['seq']),
    holder: row['holder'] as string | null,
    holderHost: row['holder_host'] as string | null,
    settledAgeMs: row['settled_at'] === null ? null : nowMs - Number(row['settled_at']),
  };
}

/** Those of a list that are what they should be: what is none of that somebody else wrote, and no host is to stop for it. */
function listOf<T>(value: unknown, isOne: (one: unknown) => one is T): T[] {
  return Array.isArray(value) ? value.filter(isOne) : [];
}

function isUnitSource(one: unknown): one is UnitSourceRow {
  const { name, keyPrefix } = (one ?? {}) as Partial<Record<keyof UnitSourceRow, unknown>>;
  return typeof name === 'string' && typeof keyPrefix === 'string';
}
