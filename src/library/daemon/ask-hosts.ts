import type { SourceConfig } from '../../config/config.ts';
import { leadsBelow } from '../../domain/within.ts';
import type { HostsApproval, HostsRescan } from '../../words/asked.ts';
import { clusterFacts } from './cluster-facts.ts';
import type { DaemonState } from './answers.ts';
import type { ClusterPort, Wished } from './cluster-port.ts';
import { isSyncedHere, unitOf } from './elsewhere.ts';

/** What people ask for is asked of these: the daemons of this process, and the hosts that sync the other sources. */
type Asked = Pick<DaemonState, 'daemon' | 'cluster' | 'loaded'>;

/** Lets halted sources go on, wherever they are synced. `source`: `null` for all. */
export async function approveAnywhere(asked: Asked, source: string | null): Promise<HostsApproval> {
  const { daemon, cluster } = asked;
  const here = daemon?.approve(source) ?? { approved: [], missing: [] };
  if (cluster === null) return here;
  if (source === null) await cluster.look();
  const passedOn: { source: string; host: string }[] = [];
  const failed: { source: string; reason: string }[] = [];
  for (const { name } of elsewhere(asked, source)) {
    if (source === null && !isHalted(cluster, name)) continue;
    const wished = await cluster.wish({ kind: 'approve', source: name });
    if (wished.kind === 'passed-on') passedOn.push({ source: name, host: wished.host });
    else failed.push({ source: name, reason: whyNot(wished) });
  }
  return { ...here, passedOn, failed };
}

/** Looks again now, wherever the sources are synced. `null`: botsync is starting. `source` and `path`: `null` for everything. */
export async function rescanAnywhere(
  asked: Asked,
  source: string | null,
  path: string | null,
): Promise<HostsRescan | null> {
  const { daemon, cluster } = asked;
  const others = elsewhere(asked, source);
  if (cluster === null || others.length === 0) return daemon?.rescan(source, path) ?? null;
  // Whoever asks has written it: the ledger is given nothing that no path can be.
  if (path !== null && !leadsBelow(path)) return { kind: 'outside' };
  if (source !== null) {
    const wished = await cluster.wish({ kind: 'rescan', source, path });
    if (wished.kind === 'passed-on') return { kind: 'passed-on', host: wished.host };
    return { kind: 'not-passed-on', reason: whyNot(wished) };
  }
  // A pass is over everything that a host has: one source of each unit stands for all.
  const standing = clusterFacts(cluster);
  const units = new Map(others.map((one) => [unitOf(standing, one)?.name ?? one.name, one.name]));
  const failed = [];
  for (const name of units.values()) {
    const wished = await cluster.wish({ kind: 'rescan', source: name, path: null });
    if (wished.kind !== 'passed-on') failed.push(`${name} (${whyNot(wished)})`);
  }
  daemon?.rescan(null, null);
  return failed.length === 0 ? { kind: 'pass' } : { kind: 'not-passed-on', reason: failed.join('; ') };
}

/** Sources of the configuration that this host does not sync; `source`: only that one. */
function elsewhere({ cluster, loaded }: Asked, source: string | null): readonly SourceConfig[] {
  if (cluster === null) return [];
  const standing = clusterFacts(cluster);
  return loaded.config.sources.filter(
    (one) => (source === null || one.name === source) && !isSyncedHere(standing, one),
  );
}

function isHalted({ reports }: ClusterPort, source: string): boolean {
  return [...reports.values()]
    .flatMap(({ sources }) => sources)
    .some(({ name, halted }) => name === source && halted !== null);
}

function whyNot(wished: Exclude<Wished, { readonly kind: 'passed-on' }>): string {
  return wished.kind === 'nobody' ? 'no host syncs it' : wished.reason;
}
