import { createHash, randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import type { Sql } from '../../cluster/database.ts';
import { Ledger, type Grant } from '../../cluster/ledger.ts';
import { Membership, type UnitRow } from '../../cluster/membership.ts';
import { quoted } from '../../cluster/schema.ts';
import type { Config } from '../../config/config.ts';
import {
  carriedEntries,
  carriedFiles,
  countByState,
  dropCarried,
  hasRowsOfSources,
  type CarriedPart,
} from '../../state/carried-rows.ts';
import { guarded, StateFileError, type Database } from '../../state/database.ts';
import type { StateReader } from '../../state/state-reader.ts';
import { holdLock } from '../hold-lock.ts';
import { withStateFile } from '../read-state-file.ts';
import { SyncError } from '../sync-error.ts';
import { freeAbandoned } from './free-abandoned.ts';
import { giveAnotherName } from './give-another-name.ts';
import { asked, demandLedger, type Cluster } from './open-cluster.ts';
import { unitsOfConfig } from './own-units.ts';

/** What is imported, and how. */
export interface ImportRun {
  readonly config: Config;
  /** What the platform is called in records. */
  readonly platformName: string;
  /** Whether it is only told what would be imported. */
  readonly isDryRun: boolean;
  /** Epoch milliseconds; names the state file that is kept. */
  readonly nowMs: number;
}

/** A unit with its files, by their state. */
export interface ImportedUnit {
  readonly name: string;
  readonly inStateFile: ReadonlyMap<string, number>;
  /** `null`: nothing was imported, it is a dry run. */
  readonly inLedger: ReadonlyMap<string, number> | null;
  /** Whether an import that did not come to its end had brought it there. */
  readonly wasThere: boolean;
}

/** What became of an import. */
export interface Imported {
  readonly units: readonly ImportedUnit[];
  /** Files that stay in the state file of this host. */
  readonly filesLeft: number;
  /** What the state file is called now; `null`: it is a dry run, or there was nothing to import. */
  readonly keptAs: string | null;
  /** Whether there is a state file still, with what stays. */
  readonly hasRest: boolean;
}

/** What an import writes down of itself with each unit, among the rows of tables. */
const NOTE = 'import';

type ConfigUnit = ReturnType<typeof unitsOfConfig>[number];

interface UnitPart extends CarriedPart {
  readonly unit: ConfigUnit;
  readonly counts: ReadonlyMap<string, number>;
}

/**
 * Brings the records of this host's state file into the ledger: all of them in one transaction, so that nobody finds a part, and
 * an import that is killed has done nothing. Only the change of the file's name comes after it; an import that was killed before that is
 * known by what it wrote, and is brought to its end. Throws `SyncError`.
 */
export async function importState(cluster: Cluster, run: ImportRun): Promise<Imported> {
  const { stateFile } = run.config;
  const lock = holdLock(stateFile, 'the state file', 'cluster import');
  try {
    if (!existsSync(stateFile))
      throw new SyncError('state-file', {
        place: stateFile,
        reason: 'does not exist: there is nothing to import',
        fix: 'start with: botsync sync',
      });
    await demandLedger(cluster);
    const names = new Set(sharedUnits(cluster, run).map(({ name }) => name));
    await freeAbandoned(cluster, ({ name }) => names.has(name));
    if (!run.isDryRun) foldLog(stateFile);
    const keptAs = `${stateFile}.imported-${new Date(run.nowMs).toISOString().replaceAll(':', '')}`;
    const rest = `${keptAs}.rest`;
    try {
      const { units, filesLeft, hasRest } = await withStateFile(
        stateFile,
        ({ reader, database }) => bring(cluster, run, { reader, database, rest }),
        null,
      );
      if (run.isDryRun || units.length === 0) return { units, filesLeft, keptAs: null, hasRest };
      giveAnotherName(stateFile, keptAs);
      for (const companion of ['-wal', '-shm']) rmSync(stateFile + companion, { force: true });
      if (hasRest) renameSync(rest, stateFile);
      else rmSync(stateFile);
      return { units, filesLeft, keptAs, hasRest };
    } finally {
      rmSync(rest, { force: true });
    }
  } finally {
    lock.release();
  }
}

interface Opened {
  readonly reader: StateReader;
  readonly database: Database;
  /** Where what stays is to be. */
  readonly rest: string;
}

async function bring(
  cluster: Cluster,
  run: ImportRun,
  { reader, database, rest }: Opened,
): Promise<Pick<Imported, 'units' | 'filesLeft' | 'hasRest'>> {
  const { database: ledgerDatabase, config: clusterConfig } = cluster;
  const { isDryRun } = run;
  const parts = sharedUnits(cluster, run).map((unit) => partOf(reader, database, unit));
  const all = guarded(
    () => database.prepare('SELECT count(*) AS files FROM file').get() as { files: number },
  );
  const filesLeft = all.files - parts.reduce((sum, { counts }) => sum + total(counts), 0);
  // Of what was imported before, this file has none: the ledger's records are newer.
  const brought = parts.filter(({ counts }) => total(counts) > 0);
  if (brought.length === 0) return { units: [], filesLeft, hasRest: true };
  const hasRest = isDryRun ? filesLeft > 0 : leaveRest(database, rest, parts);
  const task = async (sql: Sql): Promise<ImportedUnit[]> => {
    const units: ImportedUnit[] = [];
    for (const part of brought) units.push(await bringUnit(sql, clusterConfig, database, part));
    if (isDryRun) throw new Undone(units);
    return units;
  };
  const units = await asked(() => ledgerDatabase.transaction(task), clusterConfig).catch((error: unknown) => {
    if (error instanceof Undone) return error.units.map((unit) => ({ ...unit, inLedger: null }));
    throw error;
  });
  return { units, filesLeft, hasRest };
}

/** Thrown at the end of a dry run, which has done all that an import does, and undoes it. */
class Undone extends Error {
  readonly units: readonly ImportedUnit[];

  constructor(units: readonly ImportedUnit[]) {
    super('dry run');
    this.units = units;
  }
}

async function bringUnit(
  sql: Sql,
  { schema, host }: Cluster['config'],
  database: Database,
  part: UnitPart,
): Promise<ImportedUnit> {
  const { unit, counts } = part;
  const ledger = new Ledger(sql, schema);
  const membership = new Membership(sql, schema);
  const target = await ledger.target(unit.at);
  const sources = unit.sources.map(({ name, keyPrefix }) => ({ name, keyPrefix }));
  const row = await membership.declare({ target: target.id, name: unit.name, sources, pinned: null });
  const carried = { ...part, asTarget: target.id };
  if (row.holder !== null) throw heldBy(row);
  if (await isThere(sql, schema, row, () => digestOf(database, carried))) {
    return {
      name: unit.name,
      inStateFile: counts,
      inLedger: await countInLedger(sql, schema, row),
      wasThere: true,
    };
  }
  const instance = `import ${randomUUID()}`;
  const grant = await membership.claim(row, row.epoch, { name: host, instance });
  if (grant === null) throw heldBy(row);
  const digest = await shipAll({ ledger, grant, host, unit: unit.name }, database, carried);
  const inLedger = await countInLedger(sql, schema, row);
  if (!isDeepEqual(inLedger, counts))
    throw new Error(`${unit.name}: the ledger has other files than the state file; nothing was imported`);
  await sql(
    `INSERT INTO ${quoted(schema)}.entry (unit, tbl, host, key_hash, body) VALUES ($1, $2, $3, '', $4)`,
    [row.id, NOTE, host, JSON.stringify({ tbl: NOTE, body: { digest } })],
  );
  await ledger.release(grant);
  return { name: unit.name, inStateFile: counts, inLedger, wasThere: false };
}

/** Whether the ledger has these very rows from an import; throws where it has others. */
async function isThere(
  sql: Sql,
  schema: string,
  { id, name }: UnitRow,
  digest: () => string,
): Promise<boolean> {
  const s = quoted(schema);
  const [found] = await sql(
    `SELECT (SELECT count(*) FROM ${s}.file WHERE unit = $1) AS files, (SELECT count(*) FROM ${s}.entry WHERE unit = $1) AS entries,
       (SELECT body -> 'body' ->> 'digest' FROM ${s}.entry WHERE unit = $1 AND tbl = $2) AS digest`,
    [id, NOTE],
  );
  const [files, entries] = [Number(found?.['files']), Number(found?.['entries'])];
  if (files === 0 && entries === 0) return false;
  if (found?.['digest'] === digest()) return true;
  throw new SyncError('usage', {
    place: `the unit "${name}"`,
    reason: `is in the ledger already, with ${files.toLocaleString('en')} files that are not from this state file`,
    fix: 'hosts work with those. To begin anew, stop all hosts, drop the schema, and run: botsync cluster init',
  });
}

interface Way {
  readonly ledger: Ledger;
  readonly grant: Grant;
  readonly host: string;
  /** Its name. */
  readonly unit: string;
}

/** Ships all rows of a part. Gives what tells them from others. */
async function shipAll(
  { ledger, grant, host, unit }: Way,
  database: Database,
  part: CarriedPart,
): Promise<string> {
  const hash = createHash('sha256');
  let { seq } = grant;
  const ship = async (files: string, entries: string): Promise<void> => {
    const shipped = await ledger.ship(grant, seq, host, { files, droppedFiles: '[]', entries });
    if (shipped === 'foreign')
      throw new SyncError('usage', {
        place: `the unit "${unit}"`,
        reason: 'has files whose keys another unit of the ledger has',
        fix: 'give its sources other key prefixes, or put both into one configuration, as on all other hosts',
      });
    if (shipped !== 'taken') throw new Error(`a shipment within a transaction was ${shipped}`);
    seq += 1;
  };
  const files = carriedFiles(database, part);
  for (let next = files.next(); next.done !== true;) {
    const { rows } = next.value;
    hash.update(rows);
    // The next are read while the database is at work on these.
    const reading = turn().then(() => files.next());
    [next] = await Promise.all([reading, ship(rows, '[]')]);
  }
  for (const { rows } of carriedEntries(database, part)) {
    hash.update(rows);
    await ship('[]', rows);
  }
  return hash.digest('hex');
}

function digestOf(database: Database, part: CarriedPart): string {
  const hash = createHash('sha256');
  for (const { rows } of carriedFiles(database, part)) hash.update(rows);
  for (const { rows } of carriedEntries(database, part)) hash.update(rows);
  return hash.digest('hex');
}

async function countInLedger(sql: Sql, schema: string, { id }: UnitRow): Promise<Map<string, number>> {
  const rows = await sql(
    `SELECT state, count(*) AS count FROM ${quoted(schema)}.file WHERE unit = $1 GROUP BY state`,
    [id],
  );
  return new Map(rows.map((row) => [String(row['state']), Number(row['count'])]));
}

/** Units that any host may have. */
function sharedUnits({ config: { host } }: Cluster, { config, platformName }: ImportRun): ConfigUnit[] {
  return unitsOfConfig(config, host, platformName).filter(({ isPinned }) => !isPinned);
}

function partOf(reader: StateReader, database: Database, unit: ConfigUnit): UnitPart {
  const number = reader.targetId(unit.at);
  const sources = unit.sources.map(({ name }) => name);
  // One that was never used has a number below zero.
  const part = { sources, target: number < 0 ? null : number, asTarget: 0 };
  return { ...part, unit, counts: countByState(database, part) };
}

/** Writes a state file with what stays. Gives whether anything does. */
function leaveRest(database: Database, rest: string, parts: readonly CarriedPart[]): boolean {
  closeSync(openSync(rest, 'wx', 0o600));
  return guarded(() => {
    database.prepare('VACUUM INTO ?').run(rest);
    const copy = new DatabaseSync(rest);
    try {
      dropCarried(copy, parts);
      copy.exec('VACUUM');
      return hasRowsOfSources(copy);
    } finally {
      copy.close();
    }
  });
}

/** What a killed process left beside its state file is brought into it: it is one file then, and gets another name at once. */
function foldLog(file: string): void {
  if (!existsSync(`${file}-wal`)) return;
  try {
    guarded(() => {
      const database = new DatabaseSync(file, { timeout: 5000 });
      try {
        database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      } finally {
        database.close();
      }
    });
  } catch (error) {
    if (!(error instanceof StateFileError)) throw error;
    throw new SyncError('state-file', {
      place: file,
      reason: `cannot be used: ${error.message}`,
      fix: 'see that it can be read and written by this user',
    });
  }
}

function heldBy({ name, holderHost }: UnitRow): SyncError {
  return new SyncError('usage', {
    place: `the unit "${name}"`,
    reason: `is held by ${holderHost ?? 'another host'}, which works on it already`,
    fix: 'import before the first host is started',
  });
}

function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function isDeepEqual(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  return a.size === b.size && [...a].every(([state, count]) => b.get(state) === count);
}
