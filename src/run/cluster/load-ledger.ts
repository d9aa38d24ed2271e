import type { UnitRow } from '../../cluster/shared-ledger.ts';
import {
  describeUnreadable,
  UnreadableRowError,
  WorkingCopy,
  type NumberedTarget,
} from '../../store/working-copy.ts';
import { asked, type Cluster, demandLedger, openCluster } from './open-cluster.ts';
import { partsOf, SyncError } from '../sync-error.ts';
import type { ClusterConfig } from '../../config/config.ts';
import { StateReader } from '../../store/state-reader.ts';
import { withStateFile, type Records, type RecordsPlace } from '../read-state-file.ts';

/**
 * Loads the records of all units of the ledger into one empty working copy, as if there were one state file. Throws
 * `SyncError`.
 */
async function loadLedger(cluster: Cluster, copy: WorkingCopy): Promise<void> {
  const { ledger, membership, config } = cluster;
  const [view, targets] = await asked(() => Promise.all([membership.look(), ledger.targets()]), config);
  copy.loadTargets(targets);
  const units: NamedRows[] = [];
  for (const unit of view.units) {
    const load = async (): Promise<void> => {
      for await (const { files } of ledger.rows(unit.id, config.host)) {
        if (files !== '[]') copy.load({ files, entries: '[]' });
      }
      units.push({ name: unit.name, ...(await entriesOf(cluster, unit)) });
    };
    await asked(load, config).catch((error: unknown) => {
      if (!(error instanceof UnreadableRowError)) throw error;
      throw new SyncError('cluster', partsOf(describeUnreadable(unit.name, error)));
    });
  }
  try {
    copy.load({ files: '[]', entries: JSON.stringify(mergeEntries(units)) });
  } catch (error) {
    if (!(error instanceof UnreadableRowError)) throw error;
    const name = unreadableIn(units, targets) ?? 'several units';
    throw new SyncError('cluster', partsOf(describeUnreadable(name, error)));
  }
}

interface NamedRows extends RowsOfUnit {
  readonly name: string;
}

/** Returns the unit whose rows cannot be loaded even alone; `null`: each unit can. */
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

async function entriesOf(
  { ledger, config: { host } }: Cluster,
  { id, holderHost }: UnitRow,
): Promise<RowsOfUnit> {
  const entries = await ledger.entriesByHost(id, [host, holderHost ?? host]);
  const of = (name: string): TravellingRow[] => rowsIn(entries.get(name) ?? '[]');
  return { shared: of(''), own: of(host), holders: of(holderHost ?? host) };
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

/** A row of a table other than `file`, as the ledger stores it. */
interface TravellingRow {
  readonly tbl: string;
  /** The primary key of the row, as JSON. */
  readonly key: string;
  readonly body: Readonly<Record<string, unknown>>;
}

interface RowsOfUnit {
  /** Rows that are the same on all hosts. */
  readonly shared: readonly TravellingRow[];
  /** This host's rows of tables that each host has for itself. */
  readonly own: readonly TravellingRow[];
  /** The same for the current or last holder of the unit. */
  readonly holders: readonly TravellingRow[];
}

/** Where rows of two units have the same key, the row with the greater value in this column is kept. */
const DECIDING: Readonly<Record<string, string>> = {
  pass: 'finished_at',
  verification: 'finished_at',
  told: 'told_at',
  unserved_operation: 'asked_at',
  clock: 'ahead',
};

/** Merges the rows of units, as one state file would have them. */
function mergeEntries(units: readonly RowsOfUnit[]): TravellingRow[] {
  const merged = new Map<string, TravellingRow>();
  const numbered: TravellingRow[] = [];
  for (const unit of units) {
    for (const row of [...unit.shared, ...rowsOfHosts(unit)]) {
      // Removals are named only by row numbers, which each working copy assigns itself.
      if (row.tbl === 'removal') numbered.push({ ...row, body: { ...row.body, rowid: null } });
      else {
        const name = JSON.stringify([row.tbl, row.key]);
        const other = merged.get(name);
        merged.set(name, other === undefined ? row : oneOf(other, row));
      }
    }
  }
  return [...merged.values(), ...numbered];
}

/** Takes the directories as this host saw them, or else as the holder did; halts always come from the holder. */
function rowsOfHosts({ own, holders }: RowsOfUnit): TravellingRow[] {
  const isSource = ({ tbl }: TravellingRow): boolean => tbl === 'source';
  const seen = new Map(own.filter(isSource).map((row) => [row.body['name'], row]));
  const halts = new Map(holders.filter(isSource).map(({ body }) => [body['name'], body['halt']]));
  return [
    ...own.map((row) => {
      const name = row.body['name'];
      return isSource(row) && halts.has(name)
        ? { ...row, body: { ...row.body, halt: halts.get(name) ?? null } }
        : row;
    }),
    ...holders.filter(({ tbl, body }) => !seen.has(body[tbl === 'source' ? 'name' : 'source'])),
  ];
}
function oneOf(one: TravellingRow, other: TravellingRow): TravellingRow {
  // The unit of the row without a `url` has announced this content.
  if (one.tbl === 'announcement') return one.body['url'] === null ? one : other;
  const column = DECIDING[one.tbl];
  if (column === undefined) return one;
  const later = Number(other.body[column]) > Number(one.body[column]) ? other : one;
  if (one.tbl !== 'pass') return later;
  // Rows name the pass that saw them, so the next pass needs a number greater than all of them.
  const number = Math.max(Number(one.body['number']), Number(other.body['number']));
  return { ...later, body: { ...later.body, number } };
}

/**
 * Opens the records of all units of the ledger, in memory. The first read loads them once; no host is blocked by that.
 */
export function openLedgerRecords(place: RecordsPlace, config: ClusterConfig): Records {
  let loading: Promise<WorkingCopy> | null = null;
  return {
    read: (read) =>
      // The holder of this host's state file is reported as without a cluster.
      withStateFile(place.loaded.config.stateFile, async ({ holder }) => {
        loading ??= loadAll(place, config);
        const { database } = await loading;
        return await read({ reader: new StateReader(database), database, holder, close: () => undefined });
      }),
    close: () => {
      loading?.then(
        (copy) => {
          copy.close();
        },
        () => undefined,
      );
    },
  };
}

async function loadAll({ loaded, env }: RecordsPlace, config: ClusterConfig): Promise<WorkingCopy> {
  const cluster = openCluster(loaded, config, env);
  const copy = new WorkingCopy(':memory:');
  try {
    await demandLedger(cluster);
    await loadLedger(cluster, copy);
    return copy;
  } catch (error) {
    copy.close();
    throw error;
  } finally {
    await cluster.close();
  }
}
