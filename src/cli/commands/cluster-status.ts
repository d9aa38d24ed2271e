import { EXIT } from '../../domain/exit-code.ts';
import {
  standingOfCluster,
  type ClusterStanding,
  type HostStanding,
  type UnitStanding,
} from '../../library/cluster/cluster-status.ts';
import { unitsOfConfig } from '../../library/cluster/own-units.ts';
import { withCluster } from '../../library/cluster/with-cluster.ts';
import { load, platformName } from '../../library/load.ts';
import { describeUntaken } from '../../words/cluster.ts';
import { describeSpan } from '../../words/quantity.ts';
import type { GlobalOptions } from '../global-options.ts';
import { refuseEmulator } from '../refuse-emulator.ts';
import { print, shown } from '../render/output.ts';
import { printJson } from '../render/print-json.ts';
import { renderTable } from '../render/table.ts';

/** `botsync cluster status`: hosts, units, and who holds what. Returns the exit code; throws `SyncError`. */
export async function clusterStatus(options: GlobalOptions): Promise<number> {
  refuseEmulator(options);
  const loaded = load(options);
  const standing = await withCluster(loaded, process.env, (cluster) => {
    const units = unitsOfConfig(loaded.config, cluster.config.host, platformName(options, loaded.config));
    return standingOfCluster(cluster, new Set(units.map(({ name }) => name)));
  });
  if (options.json) printJson(forPrograms(standing, Date.now()));
  else print(forPeople(standing).join('\n'));
  return standing.unheld.length === 0 ? EXIT.ok : EXIT.incomplete;
}

function forPeople({ hosts, units, isDivided, unheld }: ClusterStanding): string[] {
  if (units.length === 0) return ['No host has taken part yet, and nothing was imported.'];
  const notes = [
    ...units.filter(({ name }) => unheld.includes(name)).map(describeUnheld),
    ...units
      .filter(
        ({ isConfigured, holder, files }) =>
          !isConfigured && holder === null && files !== null && files.size > 0,
      )
      .map(
        ({ name }) =>
          `${shown(name)} is in the configuration of no host that was heard of, nor of this one: its files stay on the platform.`,
      ),
    ...(isDivided
      ? [
          'Hosts have different configurations (the same sources, rules and limits are needed on all): with every move of a unit files are sent again.',
        ]
      : []),
  ];
  return [
    ...(hosts.length === 0
      ? ['No host takes part just now.']
      : renderTable(
          ['HOST', 'STATE', 'VERSION', 'WEIGHT', 'SHARE', 'CONFIGURATION', 'HOLDS'],
          hosts.map(hostRow),
          [3, 4],
        )),
    '',
    ...renderTable(
      ['UNIT', 'HELD BY', 'EPOCH', 'SYNCED', 'OTHER', 'SETTLED', 'HOSTS'],
      units.map((unit) => unitRow(unit)),
      [2, 3, 4],
    ),
    ...(notes.length === 0 ? [] : ['', ...notes]),
  ];
}

function describeUnheld({ name, pinnedTo, isHalted, whyUntaken }: UnitStanding): string {
  if (isHalted)
    return `${shown(name)} is halted: its keys may be those of another unit. The status of a host that has it names both.`;
  if (pinnedTo !== null)
    return `${shown(name)} is pinned to ${shown(pinnedTo)}, which was not heard of: nothing of it is synced, unless that host is only cut off from the database.`;
  const why = whyUntaken === null ? '' : `: ${describeUntaken(whyUntaken)}`;
  return `${shown(name)} is held by no host that was heard of${why}. Nothing of it is synced.`;
}

function hostRow({ name, liveness, version, weight, share, configuration, holds }: HostStanding): string[] {
  return [
    name,
    liveness,
    version,
    String(weight),
    share === null ? '' : `${Math.round(share)}/s`,
    configuration,
    holds.join(', '),
  ];
}

function unitRow(unit: UnitStanding): string[] {
  const { name, epoch, files, candidates, settledAgeMs } = unit;
  const synced = files?.get('synced') ?? 0;
  const all = [...(files?.values() ?? [])].reduce((sum, count) => sum + count, 0);
  return [
    name,
    holderWords(unit),
    String(epoch),
    files === null ? '' : synced.toLocaleString('en'),
    files === null ? '' : (all - synced).toLocaleString('en'),
    settledAgeMs === null ? '' : `${describeSpan(settledAgeMs)} ago`,
    candidates.join(', '),
  ];
}

function holderWords({ pinnedTo, holder, isHalted, lastHolder }: UnitStanding): string {
  if (holder === null) return lastHolder === null ? 'nobody' : `nobody (last ${lastHolder})`;
  const notes = [
    ...(pinnedTo === null ? [] : ['pinned']),
    ...(isHalted ? ['halted'] : []),
    ...(holder.liveness === 'alive' ? [] : [holder.liveness]),
  ];
  return notes.length === 0 ? holder.host : `${holder.host} (${notes.join(', ')})`;
}

function forPrograms({ hosts, units, isDivided, unheld }: ClusterStanding, nowMs: number): object {
  return {
    hosts: hosts.map(({ liveness, ...host }) => ({ ...host, state: liveness })),
    units: units.map(({ holder, files, settledAgeMs, isConfigured, isHalted, ...unit }) => ({
      ...unit,
      configured: isConfigured,
      halted: isHalted,
      holder: holder && { host: holder.host, state: holder.liveness },
      files: files && Object.fromEntries(files),
      settledAt: settledAgeMs === null ? null : new Date(nowMs - settledAgeMs).toISOString(),
    })),
    configurationsDiffer: isDivided,
    unheld,
  };
}
