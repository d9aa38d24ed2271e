import { setTimeout as delay } from 'node:timers/promises';
import type { Sql, SqlRow } from '../../cluster/database.ts';
import type { ClusterView, HostRow, UnitRow } from '../../cluster/membership.ts';
import { isOfNotifications } from '../../domain/unit.ts';
import { quoted } from '../../cluster/schema.ts';
import { disagree, whyUntaken, type WhyUntaken } from '../../domain/unit-moves.ts';
import { beatMs } from '../../domain/lease.ts';
import { asked, demandLedger, type Cluster } from './open-cluster.ts';
import { overlapOf, weightFor } from './own-units.ts';

/**
 * Whether a host was heard of while it was looked: there is no clock that all share, so that only a beat that comes proves that one
 * lives. `unknown`: its beats may be further apart than was waited.
 */
export type Liveness = 'alive' | 'silent' | 'unknown';

/** A host of a cluster. */
export interface HostStanding {
  readonly name: string;
  readonly liveness: Liveness;
  readonly version: string;
  readonly weight: number;
  /** Equal on hosts whose configurations agree as far as they should. */
  readonly configuration: string;
  /** Names of the units that it holds. */
  readonly holds: readonly string[];
  /** Its share of the budget of requests, requests a second; `null`: it has none. */
  readonly share: number | null;
}

/** A unit of a cluster. */
export interface UnitStanding {
  readonly name: string;
  /** The host that it is pinned to; `null`: any may have it. */
  readonly pinnedTo: string | null;
  /** Who holds it, or works on it alone; `null`: nobody. */
  readonly holder: { readonly host: string; readonly liveness: Liveness } | null;
  /** The host that held it last; `null`: nobody ever did. */
  readonly lastHolder: string | null;
  readonly epoch: number;
  /** How many files there are on record, by their state; `null` for one that is pinned: its host has them, and for notifications. */
  readonly files: ReadonlyMap<string, number> | null;
  /** Whether nobody may sync it, because its keys may be those of another unit. */
  readonly isHalted: boolean;
  /** Names of the live hosts that have its sources, see their directories, and would take it. */
  readonly candidates: readonly string[];
  /** Whether this host has its sources in its configuration, or any live host that sees their directories. */
  readonly isConfigured: boolean;
  /** Why no live host could take it; `null`: one could, it is pinned, or for notifications. */
  readonly whyUntaken: WhyUntaken | null;
  /** When the last pass began that left nothing unsent, epoch milliseconds; `null`: none did yet. */
  readonly settledAgeMs: number | null;
  /** What was wished of its holder and is not carried out yet. */
  readonly wishes: readonly string[];
}

/** How a cluster stands. */
export interface ClusterStanding {
  readonly hosts: readonly HostStanding[];
  readonly units: readonly UnitStanding[];
  /** Whether live hosts that could sync the same units have configurations that do not agree. */
  readonly isDivided: boolean;
  /** Names of the units that no live host holds, or may sync. */
  readonly unheld: readonly string[];
}

/** Hosts are waited for so long at most, milliseconds, and so many beats. */
const LONGEST_WATCH_MS = 10_000;
const BEATS_WATCHED = 1.5;
const LOOKS_A_BEAT = 5;

/**
 * Looks how a cluster stands, for as long as it takes to hear of all hosts, or to know that one is silent. Throws `SyncError`.
 *
 * @param ownNames - of the units in the configuration of this host, whether it takes part or not.
 */
export async function standingOfCluster(
  cluster: Cluster,
  ownNames: ReadonlySet<string>,
): Promise<ClusterStanding> {
  await demandLedger(cluster);
  const { database, config } = cluster;
  const { view, livenessOf } = await watch(cluster);
  const [files, shares] = await asked(
    () => Promise.all([countFiles(database.sql, config.schema), sharesOf(database.sql, config.schema)]),
    config,
  );
  const livenessOfHost = (name: string): Liveness => {
    const host = view.hosts.find((one) => one.name === name);
    // A host that ends takes itself off the list.
    return host === undefined ? 'silent' : livenessOf(`host ${host.name}`);
  };
  const seenHosts = sorted(view.hosts);
  const liveHosts = seenHosts.filter(({ name }) => livenessOf(`host ${name}`) !== 'silent');
  const listed = new Set(seenHosts.map(({ name }) => name));
  // Of a host that ended in order, or is gone for good, nobody expects anything.
  const known = sorted(view.units).filter(({ pinned }) => pinned === null || listed.has(pinned));
  const units = known.map((unit): UnitStanding => ({
    name: unit.name,
    pinnedTo: unit.pinned,
    holder: holderOf(unit, livenessOfHost, livenessOf),
    lastHolder: unit.holderHost,
    epoch: unit.epoch,
    files:
      unit.pinned === null && !isOfNotifications(unit)
        ? (files.get(unit.id) ?? new Map<string, number>())
        : null,
    isHalted: overlapOf(unit, view, liveHosts) !== null,
    candidates: liveHosts
      .filter((host) => host.units.includes(unit.id) && (unit.pinned !== null || weightFor(unit, host) > 0))
      .map(({ name }) => name),
    isConfigured: ownNames.has(unit.name) || liveHosts.some((host) => host.units.includes(unit.id)),
    whyUntaken: unit.pinned === null && !isOfNotifications(unit) ? whyUntaken(unit.id, liveHosts) : null,
    settledAgeMs: isOfNotifications(unit) ? null : unit.settledAgeMs,
    wishes: view.wishes.filter((wish) => wish.unit === unit.id).map(({ kind }) => kind),
  }));
  const hosts = seenHosts.map((host): HostStanding => ({
    name: host.name,
    liveness: livenessOf(`host ${host.name}`),
    version: host.version,
    weight: host.weight,
    configuration: host.digest,
    holds: view.units
      .filter(({ holder, holderHost }) => holder !== null && holderHost === host.name)
      .map(({ name }) => name),
    share: shares.get(host.name) ?? null,
  }));
  return {
    hosts,
    units,
    isDivided: liveHosts.some((one) => liveHosts.some((other) => disagree(one, other))),
    unheld: units.filter(isUnheld).map(({ name }) => name),
  };
}

function sorted<T extends { readonly name: string }>(all: readonly T[]): T[] {
  return [...all].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What nobody holds and nobody has in a configuration is over: its files stay on the platform. */
function isUnheld({ pinnedTo, holder, isHalted, isConfigured }: UnitStanding): boolean {
  if (pinnedTo !== null) return isHalted || holder?.liveness === 'silent';
  return holder === null ? isConfigured : holder.liveness === 'silent';
}

function holderOf(
  { id, pinned, holder, holderHost }: UnitRow,
  livenessOfHost: (name: string) => Liveness,
  livenessOf: (name: string) => Liveness,
): UnitStanding['holder'] {
  if (pinned !== null) return { host: pinned, liveness: livenessOfHost(pinned) };
  return holder === null ? null : { host: holderHost ?? '', liveness: livenessOf(`unit ${id}`) };
}

/** Looks until everything that should have changed has, or for so long that what has not is silent. */
async function watch({
  membership,
  config,
}: Cluster): Promise<{ readonly view: ClusterView; readonly livenessOf: (name: string) => Liveness }> {
  const look = (): Promise<ClusterView> => asked(() => membership.look(), config);
  const wantedMs = beatMs(config.leaseMs) * BEATS_WATCHED;
  const untilMs = performance.now() + Math.min(wantedMs, LONGEST_WATCH_MS);
  let view = await look();
  const first = marksOf(view);
  const heard = new Set<string>();
  while (performance.now() < untilMs) {
    const marks = marksOf(view);
    for (const [name, mark] of marks) if (first.get(name) !== mark) heard.add(name);
    if ([...marks.keys()].every((name) => heard.has(name))) break;
    await delay(beatMs(config.leaseMs) / LOOKS_A_BEAT);
    view = await look();
  }
  const otherwise = wantedMs <= LONGEST_WATCH_MS ? 'silent' : 'unknown';
  return { view, livenessOf: (name) => (heard.has(name) ? 'alive' : otherwise) };
}

/** What changes with each beat, of hosts and of units that are held. */
function marksOf({ hosts, units }: ClusterView): Map<string, string> {
  const ofHost = ({ name, instance, beat }: HostRow): [string, string] => [
    `host ${name}`,
    `${instance} ${beat}`,
  ];
  return new Map([
    ...hosts.map(ofHost),
    ...units
      .filter(({ holder }) => holder !== null)
      .map(({ id, epoch, beat }): [string, string] => [`unit ${id}`, `${epoch} ${beat}`]),
  ]);
}

async function countFiles(sql: Sql, schema: string): Promise<Map<number, Map<string, number>>> {
  const rows = await sql(
    `SELECT unit, state, count(*) AS count FROM ${quoted(schema)}.file GROUP BY unit, state ORDER BY state`,
  );
  const counts = new Map<number, Map<string, number>>();
  for (const row of rows) {
    const unit = Number(row['unit']);
    counts.set(
      unit,
      (counts.get(unit) ?? new Map<string, number>()).set(String(row['state']), Number(row['count'])),
    );
  }
  return counts;
}

async function sharesOf(sql: Sql, schema: string): Promise<Map<string, number>> {
  const rows: readonly SqlRow[] = await sql(
    `SELECT host, sum(share) AS share FROM ${quoted(schema)}.budget_share GROUP BY host`,
  );
  return new Map(rows.map((row) => [String(row['host']), Number(row['share'])]));
}
