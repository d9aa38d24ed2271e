import { isHindrance } from '../../domain/hindrance.ts';
import type {
  ClusterMembership,
  ClusterView,
  Grant,
  HostNews,
  HostRow,
  Proof,
  SeenOfUnit,
  UnitRow,
  UnitSourceRow,
  CommandRow,
} from '../shared-ledger.ts';
import type { Sql, SqlRow } from './sql.ts';
import { quoted } from './schema.ts';

/** The database's clock, epoch milliseconds: only its differences are used. */
const NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** The hosts of a cluster, and the leases of units. Methods throw `DatabaseError`. */
export class Membership implements ClusterMembership {
  readonly #sql: Sql;
  readonly #schema: string;

  constructor(sql: Sql, schema: string) {
    this.#sql = sql;
    this.#schema = quoted(schema);
  }

  /** Registers a process under a host name, in place of an earlier one. */
  async join(news: HostNews): Promise<void> {
    const { name, instance, isVisitor, version, units, hindrances, report, pausedForMs } = news;
    await this.#sql(
      `INSERT INTO ${this.#schema}.host AS host
         (name, instance, is_visitor, version, units, report, paused_until, hindrances)
       VALUES ($1, $2, $3, $4, $5, $6, ${NOW_MS} + $7, $8)
       ON CONFLICT (name) DO UPDATE SET instance = excluded.instance, beat = host.beat + 1, is_visitor = excluded.is_visitor,
         version = excluded.version, units = excluded.units,
         paused_until = excluded.paused_until, hindrances = excluded.hindrances`,
      [
        ...[name, instance, isVisitor, version, JSON.stringify(units), storable(report), pausedForMs],
        storable(JSON.stringify(hindrances)),
      ],
    );
  }

  /** Removes a host that has ended. */
  async leave({ name, instance }: Pick<HostNews, 'name' | 'instance'>): Promise<void> {
    await this.#sql(`DELETE FROM ${this.#schema}.host WHERE name = $1 AND instance = $2`, [name, instance]);
  }

  /**
   * Proves that a host and its leases are alive, and reads the cluster, in one statement. It is the only statement under leases that
   * locks several units, in the order of their numbers: two of them never deadlock.
   */
  async beat(news: HostNews, held: readonly Proof[]): Promise<ClusterView> {
    const { name, instance, isVisitor, version, units, hindrances, report, pausedForMs } = news;
    const [row] = await this.#sql(
      `WITH mine AS (
         UPDATE ${this.#schema}.host SET beat = beat + 1, is_visitor = $3, version = $4, units = $5,
           report = coalesce($6, report), hindrances = $9, paused_until = ${NOW_MS} + $8 WHERE name = $1 AND instance = $2 RETURNING 1),
       held AS (
         UPDATE ${this.#schema}.unit AS unit SET beat = beat + 1,
           settled_at = greatest(settled_at, ${NOW_MS} - given.age)
         FROM (
           SELECT unit.id, given.epoch, given.age FROM ${this.#schema}.unit AS unit
           JOIN json_to_recordset($7) AS given (id integer, epoch bigint, age bigint) ON unit.id = given.id
           WHERE unit.epoch = given.epoch AND unit.holder = $2
           ORDER BY unit.id FOR NO KEY UPDATE OF unit) AS given
         WHERE unit.id = given.id AND unit.epoch = given.epoch AND unit.holder = $2
         RETURNING unit.id)
       SELECT (SELECT count(*) FROM mine) AS known, (SELECT json_agg(id) FROM held) AS proven, ${this.#view(HOST_COLUMNS)}`,
      [
        ...[name, instance, isVisitor, version, JSON.stringify(units), storable(report)],
        JSON.stringify(held.map(({ unit, epoch, settledAgeMs }) => ({ id: unit, epoch, age: settledAgeMs }))),
        pausedForMs,
        storable(JSON.stringify(hindrances)),
      ],
    );
    return toView(row);
  }

  /** Reads the cluster without a beat. */
  async look(): Promise<ClusterView> {
    const [row] = await this.#sql(
      `SELECT 1 AS known, NULL AS proven, ${this.#view(`${HOST_COLUMNS}, report`)}`,
    );
    return toView(row);
  }

  /** Adds a unit to the ledger, or updates its sources. */
  async declare({ target, name, sources }: Pick<UnitRow, 'target' | 'name' | 'sources'>): Promise<UnitRow> {
    const [row] = await this.#sql(
      `INSERT INTO ${this.#schema}.unit AS unit (target, name, sources) VALUES ($1, $2, $3)
       ON CONFLICT (target, name) DO UPDATE SET sources = excluded.sources RETURNING *`,
      [target, name, storable(JSON.stringify(sources))],
    );
    if (row === undefined) throw new Error('no unit');
    return toUnit(row, 0);
  }

  /**
   * Takes a unit whose epoch and beat are still as seen. `null`: another host was quicker, or its holder is alive.
   *
   * @param highest - the highest numbers ever seen of the unit: a database with lower ones went back in time. It must not give out an
   *   epoch twice, and its records are in doubt.
   */
  async claim(
    seen: UnitRow,
    highest: SeenOfUnit,
    by: Pick<HostNews, 'name' | 'instance'>,
  ): Promise<Grant | null> {
    const [row] = await this.#sql(
      `UPDATE ${this.#schema}.unit SET epoch = greatest(epoch, $1) + 1, seq = greatest(seq, $2), beat = beat + 1,
         holder = $3, holder_host = $4, is_in_doubt = is_in_doubt OR epoch < $1 OR seq < $2
       WHERE id = $5 AND epoch = $6 AND beat = $7 RETURNING epoch, seq, is_in_doubt`,
      [highest.epoch, highest.seq, by.instance, by.name, seen.id, seen.epoch, seen.beat],
    );
    if (row === undefined) return null;
    return {
      ...{ unit: seen.id, epoch: Number(row['epoch']), instance: by.instance, seq: Number(row['seq']) },
      isInDoubt: row['is_in_doubt'] === true,
    };
  }

  /** Adds a command for the holder of a unit. */
  async addCommand(unit: number, kind: string, body: unknown): Promise<void> {
    await this.#sql(`INSERT INTO ${this.#schema}.wish (unit, kind, body) VALUES ($1, $2, $3)`, [
      unit,
      kind,
      storable(JSON.stringify(body)),
    ]);
  }

  /** Removes a command. `false`: another host has removed it before. */
  async takeCommand(id: number): Promise<boolean> {
    const rows = await this.#sql(`DELETE FROM ${this.#schema}.wish WHERE id = $1 RETURNING 1`, [id]);
    return rows.length > 0;
  }

  /**
   * Passes json columns on unparsed: a text in one row that jsonb cannot hold must not stop every host.
   *
   * @param hostColumns - without reports, which not every beat needs.
   */
  #view(hostColumns: string): string {
    const all = (table: string, columns: string, key: string): string =>
      `(SELECT coalesce(json_agg(row_to_json(row) ORDER BY row.${key}), '[]')
        FROM (SELECT ${columns} FROM ${this.#schema}.${table}) AS row)`;
    return `${NOW_MS} AS now_ms, extract(epoch FROM pg_postmaster_start_time()) AS run, ${all('host', hostColumns, 'name')} AS hosts, ${all('unit', '*', 'id')} AS units, ${all('wish', '*', 'id')} AS wishes,
      (SELECT json_object_agg(name, md5(settings)) FROM ${this.#schema}.source) AS settings,
      (SELECT version FROM ${this.#schema}.meta) AS version, (SELECT state_version FROM ${this.#schema}.meta) AS state_version`;
  }
}

/** The columns of hosts that every heartbeat returns. */
const HOST_COLUMNS = `name, instance, beat, is_visitor, version, units, hindrances, greatest(paused_until - ${NOW_MS}, 0) AS paused`;

/** An escape of JSON; the group has one that PostgreSQL cannot store as text: NUL, or half a surrogate pair. */
const ESCAPE = /\\(?:(u0000|ud[89a-f][0-9a-f]{2})|.)/gu;

/**
 * Replaces escapes that PostgreSQL cannot store as text by U+FFFD in the output of `JSON.stringify`. Reading does not need this,
 * except in hosts of older versions: one such text would end the leases of all of them.
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
    commands: row['wishes'] as CommandRow[],
    settings: new Map(Object.entries((row['settings'] as Record<string, string> | null) ?? {})),
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
    isVisitor: row['is_visitor'] === true,
    version: String(row['version']),
    units: listOf(row['units'], (one): one is number => typeof one === 'number'),
    hindrances: listOf(row['hindrances'], isHindrance),
    report: row['report'] ?? null,
    pausedForMs: Number(row['paused']),
  };
}

function toUnit(row: SqlRow, nowMs: number): UnitRow {
  return {
    id: Number(row['id']),
    target: Number(row['target']),
    name: String(row['name']),
    sources: listOf(row['sources'], isUnitSource),
    epoch: Number(row['epoch']),
    beat: Number(row['beat']),
    seq: Number(row['seq']),
    holder: row['holder'] as string | null,
    holderHost: row['holder_host'] as string | null,
    settledAgeMs: row['settled_at'] === null ? null : nowMs - Number(row['settled_at']),
  };
}

/** Returns the valid items of a list: an item that botsync did not write must not stop a host. */
function listOf<T>(value: unknown, isOne: (one: unknown) => one is T): T[] {
  return Array.isArray(value) ? value.filter(isOne) : [];
}

function isUnitSource(one: unknown): one is UnitSourceRow {
  const { name, keyPrefix } = (one ?? {}) as Partial<Record<keyof UnitSourceRow, unknown>>;
  return typeof name === 'string' && typeof keyPrefix === 'string';
}
