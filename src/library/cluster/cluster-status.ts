import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterView, HostRow, UnitRow } from '../../cluster/membership.ts';
import type { HindranceStatus } from '../../domain/cluster-status.ts';
import { ableHosts, toldHindrances } from '../../domain/hindrance.ts';
import { hindranceStatus } from '../../words/halt.ts';
import { whyUntaken, type WhyUntaken } from '../../domain/unit-moves.ts';
import { beatMs } from '../../domain/lease.ts';
import { asked, demandLedger, type Cluster } from './open-cluster.ts';
import { overlapOf } from './own-units.ts';

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
  /** What keeps it from sources of its configuration. */
  readonly hindrances: readonly HindranceStatus[];
  /** Names of the units that it holds. */
  readonly holds: readonly string[];
}

/** A unit of a cluster. */
export interface UnitStanding {
  readonly name: string;
  /** Who holds it; `null`: nobody. */
  readonly holder: { readonly host: string; readonly liveness: Liveness } | null;
  /** The host that held it last; `null`: nobody ever did. */
  readonly lastHolder: string | null;
  readonly epoch: number;
  /** How many files there are on record, by their state. */
  readonly files: ReadonlyMap<string, number>;
  /** Whether nobody may sync it, because its keys may be those of another unit. */
  readonly isHalted: boolean;
  /** Names of the live hosts that would take it: those that see its directories, or where none does those that have its sources. */
  readonly candidates: readonly string[];
  /** Whether this host has its sources in its configuration, or any live host that would take them. */
  readonly isConfigured: boolean;
  /** Why no live host could take it; `null`: one could. */
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
  const { ledger, config } = cluster;
  const { view, livenessOf } = await watch(cluster);
  const files = await asked(() => ledger.countFiles(), config);
  const seenHosts = sorted(view.hosts);
  const liveHosts = seenHosts.filter(({ name }) => livenessOf(`host ${name}`) !== 'silent');
  const units = sorted(view.units).map((unit): UnitStanding => ({
    name: unit.name,
    holder: holderOf(unit, livenessOf),
    lastHolder: unit.holderHost,
    epoch: unit.epoch,
    files: files.get(unit.id) ?? new Map<string, number>(),
    isHalted: overlapOf(unit, view, liveHosts) !== null,
    candidates: ableHosts(
      liveHosts.filter(({ isVisitor }) => !isVisitor),
      unit.id,
    ).map(({ name }) => name),
    isConfigured: ownNames.has(unit.name) || liveHosts.some((host) => host.units.includes(unit.id)),
    whyUntaken: whyUntaken(unit.id, liveHosts),
    settledAgeMs: unit.settledAgeMs,
    wishes: view.wishes.filter((wish) => wish.unit === unit.id).map(({ kind }) => kind),
  }));
  const hosts = seenHosts.map((host): HostStanding => ({
    name: host.name,
    liveness: livenessOf(`host ${host.name}`),
    version: host.version,
    hindrances: liveHosts.includes(host) ? toldHindrances(host, liveHosts).map(hindranceStatus) : [],
    holds: view.units
      .filter(({ holder, holderHost }) => holder !== null && holderHost === host.name)
      .map(({ name }) => name),
  }));
  return {
    hosts,
    units,
    unheld: units.filter(isUnheld).map(({ name }) => name),
  };
}

function sorted<T extends { readonly name: string }>(all: readonly T[]): T[] {
  return [...all].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What nobody holds and nobody has in a configuration is over: its files stay on the platform. */
function isUnheld({ holder, isConfigured }: UnitStanding): boolean {
  return holder === null ? isConfigured : holder.liveness === 'silent';
}

function holderOf(
  { id, holder, holderHost }: UnitRow,
  livenessOf: (name: string) => Liveness,
): UnitStanding['holder'] {
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
