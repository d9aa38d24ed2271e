import { resolve } from 'node:path';
import { readSecretReference } from '../../config/values.ts';
import { EXIT } from '../../domain/exit-code.ts';
import {
  standingOfCluster,
  type ClusterStanding,
  type HostStanding,
  type UnitStanding,
} from '../../run/cluster/cluster-status.ts';
import {
  type Cluster,
  type OtherAddress,
  withCluster,
  initLedger,
  type LedgerMade,
} from '../../run/cluster/open-cluster.ts';
import { unitsOfConfig } from '../../run/cluster/own-units.ts';
import { load, platformName } from '../../run/run-base.ts';
import { describeHindrance, describeUntaken } from '../../words/cluster.ts';
import { describeSpan } from '../../words/quantity.ts';
import { commandEnd, type GlobalOptions } from '../global-options.ts';
import { print, shown, printJson } from '../render/output.ts';
import { renderTable } from '../render/text-layout.ts';
import { UsageError } from '../usage-error.ts';
import { releaseUnits } from '../../run/cluster/ask-holders.ts';

/** `botsync cluster status`. Returns the exit code; throws `SyncError`. */
export async function clusterStatus(options: GlobalOptions): Promise<number> {
  refuseEmulator(options);
  const loaded = load(options);
  const standing = await withCluster(loaded, process.env, (cluster) => {
    const units = unitsOfConfig(loaded.config, platformName(options, loaded.config));
    return standingOfCluster(cluster, new Set(units.map(({ name }) => name)));
  });
  if (options.json) printJson(forPrograms(standing, Date.now()));
  else print(forPeople(standing).join('\n'));
  const isAgreed = standing.hosts.every(({ hindrances }) => hindrances.every(isUnseen));
  if (!isAgreed) return EXIT.halted;
  return standing.unheld.length === 0 ? EXIT.ok : EXIT.incomplete;
}

function isUnseen({ kind }: HostStanding['hindrances'][number]): boolean {
  return kind === 'unseen';
}

function forPeople({ hosts, units, unheld }: ClusterStanding): string[] {
  if (units.length === 0) return ['No host has taken part yet.'];
  const notes = [
    ...units.filter(({ name }) => unheld.includes(name)).map(describeUnheld),
    ...hosts.flatMap(({ name, hindrances }) =>
      hindrances.map((one) => `${shown(name)} ${describeHindrance(one)}.`),
    ),
    ...units
      .filter(({ isConfigured, holder, files }) => !isConfigured && holder === null && files.size > 0)
      .map(
        ({ name }) =>
          `${shown(name)} is in the configuration of no host that was heard of, nor of this one: its files stay on the platform.`,
      ),
  ];
  return [
    ...(hosts.length === 0
      ? ['No host takes part just now.']
      : renderTable(['HOST', 'STATE', 'VERSION', 'HOLDS'], hosts.map(hostRow))),
    '',
    ...renderTable(
      ['UNIT', 'HELD BY', 'EPOCH', 'SYNCED', 'OTHER', 'SETTLED', 'HOSTS'],
      units.map((unit) => unitRow(unit)),
      [2, 3, 4],
    ),
    ...(notes.length === 0 ? [] : ['', ...notes]),
  ];
}

function describeUnheld({ name, isHalted, whyUntaken }: UnitStanding): string {
  if (isHalted)
    return `${shown(name)} is halted: its keys may be those of another unit. The status of a host that has it names both.`;
  const why = whyUntaken === null ? '' : `: ${describeUntaken(whyUntaken)}`;
  return `${shown(name)} is held by no host that was heard of${why}. Nothing of it is synced.`;
}

function hostRow({ name, liveness, version, holds }: HostStanding): string[] {
  return [name, liveness, version, holds.join(', ')];
}

function unitRow(unit: UnitStanding): string[] {
  const { name, epoch, files, candidates, settledAgeMs } = unit;
  const synced = files.get('synced') ?? 0;
  const all = [...files.values()].reduce((sum, count) => sum + count, 0);
  return [
    name,
    holderWords(unit),
    String(epoch),
    synced.toLocaleString('en'),
    (all - synced).toLocaleString('en'),
    settledAgeMs === null ? '' : `${describeSpan(settledAgeMs)} ago`,
    candidates.join(', '),
  ];
}

function holderWords({ holder, isHalted, lastHolder }: UnitStanding): string {
  if (holder === null) return lastHolder === null ? 'nobody' : `nobody (last ${lastHolder})`;
  const notes = [...(isHalted ? ['halted'] : []), ...(holder.liveness === 'alive' ? [] : [holder.liveness])];
  return notes.length === 0 ? holder.host : `${holder.host} (${notes.join(', ')})`;
}

function forPrograms({ hosts, units, unheld }: ClusterStanding, nowMs: number): object {
  return {
    hosts: hosts.map(({ liveness, ...host }) => ({ ...host, state: liveness })),
    units: units.map(({ holder, files, settledAgeMs, isConfigured, isHalted, ...unit }) => ({
      ...unit,
      configured: isConfigured,
      halted: isHalted,
      holder: holder && { host: holder.host, state: holder.liveness },
      files: Object.fromEntries(files),
      settledAt: settledAgeMs === null ? null : new Date(nowMs - settledAgeMs).toISOString(),
    })),
    unheld,
  };
}

export interface ClusterInitOptions extends GlobalOptions {
  /** The role that gets the grants; `undefined`: they have a placeholder. */
  readonly role: string | undefined;
  /** Where the address with the role of the tables' owner is stored; `undefined`: the address of the hosts is used. */
  readonly database: string | undefined;
}

const WORDS: Readonly<Record<LedgerMade['kind'], string>> = {
  created: 'was created',
  updated: 'was completed',
  unchanged: 'is up to date',
};

interface InitialisedLedger {
  readonly made: LedgerMade;
  readonly schema: string;
  readonly version: number;
  readonly grants: readonly string[];
  /** In the grants, if no role was named. */
  readonly placeholder: string;
}

/** `botsync cluster init`: creates the tables of the ledger. Returns the exit code; throws `SyncError`. */
export async function clusterInit(options: ClusterInitOptions): Promise<number> {
  refuseEmulator(options);
  const other = ownersAddress(options);
  const make = async (cluster: Cluster): Promise<InitialisedLedger> => {
    const { config, tables } = cluster;
    return {
      made: await initLedger(cluster, Date.now()),
      ...{ schema: config.schema, version: tables.version, placeholder: tables.rolePlaceholder },
      grants: tables.grants(options.role ?? null),
    };
  };
  const { made, schema, version, grants, placeholder } = await withCluster(
    load(options),
    process.env,
    make,
    other,
  );
  if (options.json) {
    const { kind, keptAs } = made;
    printJson({ ledger: kind, keptAs, schema, version, grants });
    return EXIT.ok;
  }
  if (made.keptAs !== null)
    print(`The ledger of an older version is kept in the schema ${shown(made.keptAs)}.`);
  print(`The ledger ${WORDS[made.kind]} (schema ${shown(schema)}).`);
  print(
    [
      '',
      'Hosts need these rights and no others. If they log in with another role than this one, run as the owner of the tables:',
      ...grants.map((grant) => `  ${shown(grant)}`),
      ...(options.role === undefined
        ? [`${placeholder} stands for the role of the hosts; --role NAME prints its name.`]
        : []),
      '',
      'Next, on every host:',
      `  botsync sync${commandEnd(options)}`,
    ].join('\n'),
  );
  return EXIT.ok;
}

/** Throws `UsageError` for an invalid reference, without its text, which may be the address itself. */
function ownersAddress({ database }: ClusterInitOptions): OtherAddress | null {
  if (database === undefined) return null;
  const reading = readSecretReference(database, 'BOTSYNC_OWNER');
  if (reading.kind === 'problem')
    throw new UsageError(
      '--database does not say where the address is; write "env:NAME" or "file:PATH", never the address itself',
    );
  const written = reading.value;
  const reference = written.kind === 'file' ? { ...written, path: resolve(written.path) } : written;
  return { reference, place: '--database' };
}

export interface ClusterReleaseOptions extends GlobalOptions {
  /** Without it, all units that this host holds. */
  readonly unit: string | undefined;
}

/** `botsync cluster release`: hands a unit to another host. Returns the exit code; throws `SyncError`. */
export async function clusterRelease(options: ClusterReleaseOptions): Promise<number> {
  refuseEmulator(options);
  const released = await withCluster(load(options), process.env, (cluster) =>
    releaseUnits(cluster, options.unit ?? null),
  );
  for (const { unit, from, to } of released) {
    if (options.json) printJson({ unit, from, to });
    else
      print(
        shown(`${unit}: ${from} let go of it; ${to === null ? 'nobody holds it now' : `${to} has it now`}`),
      );
  }
  return EXIT.ok;
}

/** Throws `UsageError`. */
function refuseEmulator({ emulator }: Pick<GlobalOptions, 'emulator'>): void {
  if (emulator)
    throw new UsageError(
      '--emulator is for one host alone, without a cluster; leave it out with botsync cluster',
    );
}
