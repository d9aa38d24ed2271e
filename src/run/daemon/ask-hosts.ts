import type { SourceConfig } from '../../config/config.ts';
import { seeingInstead } from '../../domain/hindrance.ts';
import { firstSeenHere, isSeenBy, isSeenHere } from '../seen-here.ts';
import type { HaltStatus } from '../../domain/status.ts';
import { readPattern } from '../../config/values.ts';
import { compilePattern } from '../../domain/pattern.ts';
import { leadsBelow } from '../../domain/key.ts';
import type { HostsApproval, HostsPrune, HostsRescan } from '../../words/asked.ts';
import type { ClusterSituation } from '../cluster/cluster-situation.ts';
import {
  clusterFacts,
  isSyncedHere,
  unitOf,
  type ClusterPort,
  type PruneCommand,
  type CommandOutcome,
} from './cluster-facts.ts';
import type { DaemonState } from './daemon-state.ts';
import type { Daemons } from './daemons.ts';

/** The daemons of this process, and the hosts that sync the other sources. */
type Asked = Pick<DaemonState, 'daemon' | 'cluster' | 'loaded'>;

/**
 * Approves the halt of a source, on whichever host syncs the source.
 *
 * @param digest - of the halt that is meant, see `haltDigest`.
 */
export async function approveAnywhere(asked: Asked, source: string, digest: string): Promise<HostsApproval> {
  const { daemon, cluster } = asked;
  const [other] = elsewhere(asked, source);
  const nothing = { approved: [], missing: [], changed: [] };
  const seeing = cluster === null ? null : whoSees(cluster.situation, source);
  if (seeing !== null && other === undefined)
    return { ...nothing, failed: [{ source, reason: isSeenBy(seeing) }] };
  if (cluster === null || other === undefined) return daemon?.approve(source, digest) ?? nothing;
  const seen = firstSeenHere(other, haltOn(cluster, source));
  if (seen !== null) return { ...nothing, failed: [{ source, reason: isSeenHere(seen) }] };
  const outcome = await cluster.command({ kind: 'approve', source, halt: digest });
  if (outcome.kind === 'passed-on') return { ...nothing, passedOn: [{ source, host: outcome.host }] };
  return { ...nothing, failed: [{ source, reason: whyNot(outcome) }] };
}

/** Returns the host that sees the files of a source if this host does not; `null` otherwise. */
export function whoSees({ own, alive, host }: ClusterSituation, source: string): string | null {
  const unit = own.find(({ sources }) => sources.some(({ name }) => name === source));
  const staying = alive.filter(({ isVisitor }) => !isVisitor);
  return unit === undefined ? null : seeingInstead(staying, host, unit.id);
}

/**
 * Rescans now, on whichever hosts sync the sources. Returns `null` while botsync is starting. `source`, `path`: `null`
 * for all.
 */
export async function rescanAnywhere(
  asked: Asked,
  source: string | null,
  path: string | null,
): Promise<HostsRescan | null> {
  const { daemon, cluster } = asked;
  const others = elsewhere(asked, source);
  if (cluster === null || others.length === 0) return daemon?.rescan(source, path) ?? null;
  // The path is user input: only paths below a directory go into the ledger.
  if (path !== null && !leadsBelow(path)) return { kind: 'outside' };
  if (source !== null) {
    const outcome = await cluster.command({ kind: 'rescan', source, path });
    if (outcome.kind === 'passed-on') return { kind: 'passed-on', host: outcome.host };
    return { kind: 'not-passed-on', reason: whyNot(outcome) };
  }
  // A rescan without a path is a pass over the whole unit, so one source of each unit is enough.
  const standing = clusterFacts(cluster);
  const units = new Map(others.map((one) => [unitOf(standing, one)?.name ?? one.name, one.name]));
  const failed = [];
  for (const name of units.values()) {
    const outcome = await cluster.command({ kind: 'rescan', source: name, path: null });
    if (outcome.kind !== 'passed-on') failed.push(`${name} (${whyNot(outcome)})`);
  }
  daemon?.rescan(null, null);
  return failed.length === 0 ? { kind: 'pass' } : { kind: 'not-passed-on', reason: failed.join('; ') };
}

/** Removes kept files of a source, on whichever host syncs it. Returns `null` while botsync is starting. */
export async function pruneAnywhere(
  asked: Asked,
  wanted: Omit<PruneCommand, 'kind'>,
): Promise<HostsPrune | null> {
  const { daemon, cluster } = asked;
  const { source } = wanted;
  if (cluster === null || elsewhere(asked, source).length === 0)
    return daemon === null ? null : pruneHere(daemon, wanted);
  const outcome = await cluster.command({ kind: 'prune', ...wanted });
  if (outcome.kind === 'passed-on') return { kind: 'passed-on', host: outcome.host };
  return { kind: 'not-passed-on', reason: whyNot(outcome) };
}

/** Removes kept files of a source that a daemon of this process syncs. */
export function pruneHere(daemon: Daemons, { source, glob, digest }: Omit<PruneCommand, 'kind'>): HostsPrune {
  if (glob === null) return daemon.prune({ source, digest, matches: () => true });
  const reading = readPattern(glob);
  if (reading.kind === 'problem') return { kind: 'not-passed-on', reason: reading.message };
  const matches = compilePattern(reading.value);
  return daemon.prune({ source, digest, matches: (path) => matches(path.normalize('NFC')) });
}

/** Returns the configured sources that this host does not sync; `source`: only that one. */
function elsewhere({ cluster, loaded }: Asked, source: string | null): readonly SourceConfig[] {
  if (cluster === null) return [];
  const standing = clusterFacts(cluster);
  return loaded.config.sources.filter(
    (one) => (source === null || one.name === source) && !isSyncedHere(standing, one),
  );
}

/** Returns the halt of a source as last reported by its host. */
function haltOn({ reports }: ClusterPort, source: string): HaltStatus | null {
  const all = [...reports.values()].flatMap(({ sources }) => sources);
  return all.find(({ name, halt }) => name === source && halt !== null)?.halt ?? null;
}

function whyNot(outcome: Exclude<CommandOutcome, { readonly kind: 'passed-on' }>): string {
  return outcome.kind === 'nobody' ? 'no host syncs it' : outcome.reason;
}
