import type { Sql } from '../../cluster/database.ts';
import type { ClusterView, UnitRow } from '../../cluster/membership.ts';
import { quoted } from '../../cluster/schema.ts';
import type { Config } from '../../config/config.ts';
import { carriedEntries, carriedFiles, type CarriedPart } from '../../state/carried-rows.ts';
import type { Database } from '../../state/database.ts';
import type { StateReader, SyncTarget } from '../../state/state-reader.ts';
import { describeUnreadable, UnreadableRowError } from '../../state/unreadable-row.ts';
import { WorkingCopy, type NumberedTarget } from '../../state/working-copy.ts';
import { targetOf } from '../../sync/sources/source.ts';
import { mergeEntries, type RowsOfUnit, type TravellingRow } from './merge-entries.ts';
import { asked, type Cluster } from './open-cluster.ts';
import { partsOf, SyncError } from '../sync-error.ts';

/** The state file of this host, with the sources that it keeps itself. */
export interface OwnRecords {
  readonly config: Config;
  /** What the platform is called in records. */
  readonly platformName: string;
  readonly reader: StateReader;
  readonly database: Database;
}

/**
 * Loads what all units of the ledger have on record, and what this host keeps itself, into one empty working copy: as if there were one
 * state file. Gives who was there and who had what when it began. Throws `SyncError`.
 */
export async function loadLedger(cluster: Cluster, copy: WorkingCopy, own: OwnRecords): Promise<ClusterView> {
  const { ledger, membership, config } = cluster;
  const [view, known] = await asked(() => Promise.all([membership.look(), ledger.targets()]), config);
  const { targets, parts } = ownParts(own, config.host, known);
  copy.loadTargets(targets);
  const units: NamedRows[] = [];
  for (const unit of view.units.filter(({ pinned }) => pinned === null)) {
    const load = async (): Promise<void> => {
      for await (const { files } of ledger.rows(unit.id, config.host)) {
        if (files !== '[]') copy.load({ files, entries: '[]' });
      }
      units.push({ name: unit.name, ...(await entriesOf(cluster.database.sql, config, unit)) });
    };
    await asked(load, config).catch((error: unknown) => {
      if (!(error instanceof UnreadableRowError)) throw error;
      throw new SyncError('cluster', partsOf(describeUnreadable(unit.name, error)));
    });
  }
  for (const part of parts) {
    for (const { rows } of carriedFiles(own.database, part)) copy.load({ files: rows, entries: '[]' });
    const rows = [...carriedEntries(own.database, part)].flatMap((page) => rowsIn(page.rows));
    units.push({ name: part.sources.join('+'), shared: rows, own: [], holders: [] });
  }
  try {
    copy.load({ files: '[]', entries: JSON.stringify(mergeEntries(units)) });
  } catch (error) {
    if (!(error instanceof UnreadableRowError)) throw error;
    const name = unreadableIn(units, targets) ?? 'several units';
    throw new SyncError('cluster', partsOf(describeUnreadable(name, error)));
  }
  return view;
}

interface NamedRows extends RowsOfUnit {
  readonly name: string;
}

/** The unit whose rows alone cannot be taken over; `null`: each can. */
function unreadableIn(units: readonly NamedRows[], targets: readonly NumberedTarget[]): string | null {
  for (const unit of units) {
    const copy = new WorkingCopy(':memory:');
    try {
      copy.loadTargets(targets);
      copy.load({ files: '[]', entries: JSON.stringify(mergeEntries([unit])) });
    } catch (error) {
      if (error instanceof UnreadableRowError) return unit.name;
      throw error;
    } finally {
      copy.close();
    }
  }
  return null;
}

async function entriesOf(sql: Sql, { schema, host }: Cluster['config'], unit: UnitRow): Promise<RowsOfUnit> {
  const rows = await sql(
    `SELECT host, coalesce(string_agg(body::text, ','), '') AS rows FROM ${quoted(schema)}.entry
     WHERE unit = $1 AND host IN ('', $2, $3) GROUP BY host`,
    [unit.id, host, unit.holderHost ?? host],
  );
  const of = (name: string): TravellingRow[] =>
    rows.filter((row) => row['host'] === name).flatMap((row) => rowsIn(`[${String(row['rows'])}]`));
  return { shared: of(''), own: of(host), holders: of(unit.holderHost ?? host) };
}

/** Throws `UnreadableRowError`. */
function rowsIn(text: string): TravellingRow[] {
  const rows = JSON.parse(text) as unknown[];
  if (!rows.every(isRow)) throw new UnreadableRowError('an entry', 'it names no table, or has no row');
  return rows;
}

function isRow(row: unknown): row is TravellingRow {
  const { tbl, body } = (row ?? {}) as { tbl?: unknown; body?: unknown };
  return typeof tbl === 'string' && typeof body === 'object' && body !== null && !Array.isArray(body);
}

/** The parts of the state file that no unit has: sources that are pinned to this host. Targets of theirs alone get numbers after the others. */
function ownParts(
  { config, platformName, reader }: OwnRecords,
  host: string,
  known: readonly NumberedTarget[],
): { readonly targets: NumberedTarget[]; readonly parts: CarriedPart[] } {
  const targets = new Map(known.map((target) => [targetName(target), target]));
  let last = Math.max(0, ...known.map(({ id }) => id));
  const numberOf = (target: SyncTarget): number => {
    const name = targetName(target);
    const found = targets.get(name);
    if (found !== undefined) return found.id;
    last += 1;
    targets.set(name, { ...target, id: last });
    return last;
  };
  const parts = config.sources
    .filter((source) => source.host === host)
    .map((source) => {
      const target = targetOf(config, source, platformName);
      const number = reader.targetId(target);
      return { sources: [source.name], target: number < 0 ? null : number, asTarget: numberOf(target) };
    });
  return { targets: [...targets.values()], parts };
}

function targetName({ baseUrl, botId, identity }: SyncTarget): string {
  return JSON.stringify([baseUrl, botId, identity]);
}
