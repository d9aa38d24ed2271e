import { escapeControls as shown } from '../domain/escape.ts';
import type { WhyUntaken } from '../domain/unit-moves.ts';
import type { ClusterFacts, ClusterTrouble, HostFacts } from '../sync/plan/cluster-facts.ts';
import { counted } from './quantity.ts';

/** So many hosts are named to people. */
const HOSTS_SHOWN = 20;

/** Who of a cluster does what, a line for each host, this one first. */
export function describeCluster(cluster: ClusterFacts): string[] {
  const { host, trouble, hosts } = cluster;
  const others = hosts.filter(({ isMe }) => !isMe);
  const more = others.length - HOSTS_SHOWN;
  const mine = unitsOf(cluster, host);
  const isIdle = trouble !== null && mine.length === 0;
  return [
    isIdle
      ? `Cluster: this host, ${shown(host)}, takes no part; how the sources stand that it does not sync is not known here`
      : `Cluster: this host, ${shown(host)}, ${workOf(cluster, host, mine)}`,
    // Nothing is heard of anybody while the database is out of reach.
    ...(trouble === null ? others.slice(0, HOSTS_SHOWN).map((one) => `  ${describeHost(cluster, one)}`) : []),
    ...(trouble === null && more > 0 ? [`  … and ${counted(more, 'more host')}; --json lists them`] : []),
  ];
}

/** What another host of a cluster does. */
function describeHost(cluster: ClusterFacts, { name, version, alive }: HostFacts): string {
  const units = unitsOf(cluster, name);
  const what = workOf(cluster, name, units);
  const had = [...units, ...haltedOf(cluster, name)];
  const own = cluster.hosts.find(({ isMe }) => isMe)?.version ?? version;
  const who = `${shown(name)}${version === own ? '' : ` (version ${shown(version)})`}`;
  if (alive) return `${who} ${what}`;
  return `${who} is silent${had.length === 0 ? '' : `, and had ${shown(had.join(', '))}`}`;
}

function workOf(cluster: ClusterFacts, name: string, units: readonly string[]): string {
  const halted = haltedOf(cluster, name);
  const work = [
    ...(units.length === 0 ? [] : [`syncs ${shown(units.join(', '))}`]),
    ...(cluster.notifier === name ? ['sends the notifications'] : []),
    ...(halted.length === 0
      ? []
      : [`has halted ${shown(halted.join(', '))}, whose keys may be those of another unit`]),
  ];
  return work.length === 0 ? 'is on standby' : work.join(' and ');
}

/** Sources that are pinned to a host, which has halted them. */
function haltedOf({ units }: ClusterFacts, name: string): string[] {
  return units.filter((one) => one.pinned === name && one.isHalted).map(({ sources }) => sources.join('+'));
}

/** Names of the units that a host syncs. This host's are those that it works on, whatever the ledger has heard of. */
export function unitsOf({ host, held, units }: ClusterFacts, name: string): string[] {
  const pinned = units
    .filter((one) => one.pinned === name && !one.isHalted)
    .map(({ sources }) => sources.join('+'));
  if (name === host) return [...held, ...pinned];
  return [
    ...units.filter((one) => one.pinned === null && one.holderHost === name).map((unit) => unit.name),
    ...pinned,
  ];
}

function whyFree({
  silent,
  reason,
  whyUntaken,
}: Extract<ClusterTrouble, { readonly kind: 'free-unit' }>): string {
  const untaken = whyUntaken === null ? null : describeUntaken(whyUntaken);
  const reasons =
    silent === null ? [reason ?? untaken] : [`${silent}, which had it, is silent`, reason ?? untaken];
  const known = reasons.filter((one) => one !== null);
  return known.length === 0 ? '' : `: ${known.join('; ')}`;
}

/** Why no host could take a unit, as a part of a sentence. */
export function describeUntaken(why: WhyUntaken): string {
  switch (why) {
    case 'no-host':
      return 'no host is up';
    case 'unseen':
      return 'no host that is up sees its directories, or one has just released it';
    case 'no-weight':
      return 'the hosts that see its directories have the weight 0';
  }
}

function whyRefused({ host, refusal }: Extract<ClusterTrouble, { readonly kind: 'elsewhere' }>): string {
  return refusal === null
    ? ''
    : `: the platform refuses the credentials of ${shown(host)}: ${shown(refusal)}`;
}

/** A trouble of a cluster in a sentence. */
export function describeClusterTrouble(trouble: ClusterTrouble): string {
  switch (trouble.kind) {
    case 'cluster':
      return shown(trouble.reason);
    case 'blocked-unit':
      return `${shown(trouble.unit)} is halted: ${shown(trouble.reason)}`;
    case 'free-unit':
      return `${shown(trouble.unit)} is synced by no host${shown(whyFree(trouble))}`;
    case 'differing-hosts':
      return `${shown(trouble.hosts.join(', '))}: another configuration than this host's; files are sent again when they move between them`;
    case 'elsewhere':
      return `${counted(trouble.files, 'file')} of ${shown(trouble.source)}, which ${shown(trouble.host)} syncs, ${trouble.files === 1 ? 'is' : 'are'} not in sync${whyRefused(trouble)}`;
  }
}
