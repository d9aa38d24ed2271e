import { escapeControls as shown } from '../domain/escape.ts';
import type { FieldDifference } from '../domain/hindrance.ts';
import type { WhyUntaken } from '../domain/unit.ts';
import type { ClusterFacts, ClusterTrouble, HindranceStatus, HostFacts } from '../domain/cluster-status.ts';
import { counted } from './quantity.ts';

const HOSTS_SHOWN = 20;

/** The most fields shown of two differing configurations. */
const FIELDS_SHOWN = 4;

/** Returns a line for each host with its work, this host first. */
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
    // Without the database nothing is known about other hosts.
    ...(trouble === null ? others.slice(0, HOSTS_SHOWN).map((one) => `  ${describeHost(cluster, one)}`) : []),
    ...(trouble === null && more > 0 ? [`  … and ${counted(more, 'more host')}; --json lists them`] : []),
  ];
}

function describeHost(cluster: ClusterFacts, { name, version, alive }: HostFacts): string {
  const units = unitsOf(cluster, name);
  const what = workOf(cluster, name, units);
  const own = cluster.hosts.find(({ isMe }) => isMe)?.version ?? version;
  const who = `${shown(name)}${version === own ? '' : ` (version ${shown(version)})`}`;
  if (alive) return `${who} ${what}`;
  return `${who} is silent${units.length === 0 ? '' : `, and had ${shown(units.join(', '))}`}`;
}

function workOf({ hosts }: ClusterFacts, name: string, units: readonly string[]): string {
  const work = units.length === 0 ? 'is on standby' : `syncs ${shown(units.join(', '))}`;
  const { hindrances = [] } = hosts.find((one) => one.name === name) ?? {};
  const left = hindrances.map(describeHindrance);
  return [work, ...left].join(' and ');
}

/** Returns why a host does not sync a source, as the predicate of a sentence about that host. */
export function describeHindrance(hindrance: HindranceStatus): string {
  const source = shown(hindrance.source);
  switch (hindrance.kind) {
    case 'unseen':
      return `does not see ${source}: ${shown(hindrance.reason)}`;
    case 'differing':
      return `has another configuration of ${source} than the ledger: ${describeFields(hindrance.fields)}`;
  }
}

function describeFields(fields: readonly FieldDifference[]): string {
  const named = fields.slice(0, FIELDS_SHOWN).map(describeField);
  const more = fields.length - named.length;
  return [...named, ...(more > 0 ? [counted(more, 'more field')] : [])].join('; ');
}

function describeField({ field, here, ledger }: FieldDifference): string {
  return `${shown(field)} is ${shown(here ?? 'not set')}, in the ledger ${shown(ledger ?? 'not set')}`;
}

/** Returns the names of the units that a host syncs; for this host those that it works on, whatever the ledger says. */
export function unitsOf({ host, held, units }: ClusterFacts, name: string): string[] {
  if (name === host) return [...held];
  return units.filter(({ holderHost }) => holderHost === name).map((unit) => unit.name);
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

/** Returns why no host could take a unit, as a part of a sentence. */
export function describeUntaken(why: WhyUntaken): string {
  switch (why) {
    case 'no-host':
      return 'no host is up';
    case 'no-taker':
      return 'no host that is up has its sources, or one has just released it';
  }
}

function whyRefused({ host, refusal }: Extract<ClusterTrouble, { readonly kind: 'elsewhere' }>): string {
  return refusal === null
    ? ''
    : `: the platform refuses the credentials of ${shown(host)}: ${shown(refusal)}`;
}

export function describeClusterTrouble(trouble: ClusterTrouble): string {
  switch (trouble.kind) {
    case 'cluster':
      return shown(trouble.reason);
    case 'blocked-unit':
      return `${shown(trouble.unit)} is halted: ${shown(trouble.reason)}`;
    case 'free-unit':
      return `${shown(trouble.unit)} is synced by no host${shown(whyFree(trouble))}`;
    case 'differing-source':
      return `this host ${describeHindrance({ ...trouble, kind: 'differing' })}; it leaves the source to others`;
    case 'elsewhere':
      return `${counted(trouble.files, 'file')} of ${shown(trouble.source)}, which ${shown(trouble.host)} syncs, ${trouble.files === 1 ? 'is' : 'are'} not in sync${whyRefused(trouble)}`;
  }
}
