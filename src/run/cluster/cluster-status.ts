import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterView, HostRow, UnitRow } from '../../cluster/shared-ledger.ts';
import type { HindranceStatus } from '../../domain/cluster-status.ts';
import { ableHosts, toldHindrances } from '../../domain/hindrance.ts';
import { hindranceStatus } from '../../words/halt.ts';
import { whyUntaken, type WhyUntaken } from '../../domain/unit.ts';
import { beatMs } from '../../domain/lease.ts';
import { asked, demandLedger, type Cluster } from './open-cluster.ts';
import { overlapOf } from './own-units.ts';

/**
 * Liveness of a host. Hosts share no clock, so only a beat seen while watching proves `alive`. `unknown`: the beats may
 * be further apart than the time watched.
 */
type Liveness = 'alive' | 'silent' | 'unknown';

export interface HostStanding {
  readonly name: string;
  readonly liveness: Liveness;
  readonly version: string;
  readonly hindrances: readonly HindranceStatus[];
  /** Names of the units that the host holds. */
  readonly holds: readonly string[];
}

export interface UnitStanding {
  readonly name: string;
  /** `null`: no host holds the unit. */
  readonly holder: { readonly host: string; readonly liveness: Liveness } | null;
  /** The host that held the unit last; `null`: none ever did. */
  readonly lastHolder: string | null;
  readonly epoch: number;
  /** Numbers of recorded files, by state. */
  readonly files: ReadonlyMap<string, number>;
  /** True if no host may sync the unit, because its keys may be those of another unit. */
  readonly isHalted: boolean;
  /**
   * Names of the live hosts that would take the unit: those that see its directories or, if none does, those that have
   * its sources.
   */
  readonly candidates: readonly string[];
  /** True if the unit's sources are in the configuration of this host or of a live host that would take it. */
  readonly isConfigured: boolean;
  /** Why no live host could take the unit; `null`: one could. */
  readonly whyUntaken: WhyUntaken | null;
  /** Milliseconds since the last pass began that left nothing unsent; `null`: there was none. */
  readonly settledAgeMs: number | null;
  /** Kinds of wishes that the holder has not carried out yet. */
  readonly wishes: readonly string[];
}

export interface ClusterStanding {
  readonly hosts: readonly HostStanding[];
  readonly units: readonly UnitStanding[];
  /** Names of the configured units that no live host holds. */
  readonly unheld: readonly string[];
}

/** Longest time to wait for beats, in milliseconds and in beats. */
const LONGEST_WATCH_MS = 10_000;
const BEATS_WATCHED = 1.5;
const LOOKS_A_BEAT = 5;

/**
 * Watches a cluster until every host and held unit has shown a beat, or is known to be silent. Throws `SyncError`.
 *
 * @param ownNames - names of the units in this host's configuration, whether it takes part or not.
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
    wishes: view.commands.filter((wish) => wish.unit === unit.id).map(({ kind }) => kind),
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

/** A unit that nobody holds or configures is not missed: its files stay on the platform. */
function isUnheld({ holder, isConfigured }: UnitStanding): boolean {
  return holder === null ? isConfigured : holder.liveness === 'silent';
}

function holderOf(
  { id, holder, holderHost }: UnitRow,
  livenessOf: (name: string) => Liveness,
): UnitStanding['holder'] {
  return holder === null ? null : { host: holderHost ?? '', liveness: livenessOf(`unit ${id}`) };
}

/** Watches until all beats have changed, or until those that have not count as silent. */
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

/** Returns the values that change with each beat, by host and held unit. */
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
