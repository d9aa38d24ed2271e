import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Ledger, Target } from '../../cluster/ledger.ts';
import type { ClusterView, HostRow, Membership, UnitRow } from '../../cluster/membership.ts';
import type { Config, SourceConfig } from '../../config/config.ts';
import { isOfNotifications, prefixesMeet, unitsOf, type UnitSource } from '../../domain/unit.ts';
import { targetOf } from '../../sync/sources/source.ts';
import { notificationUnit } from './notification-unit.ts';

/** A unit of this host's configuration. */
export interface OwnUnit {
  readonly id: number;
  readonly name: string;
  readonly target: number;
  /** What the target is. */
  readonly at: Omit<Target, 'id'>;
  readonly sources: readonly SourceConfig[];
  /** Whether it is this host's alone, by its own state file. */
  readonly isPinned: boolean;
}

interface KeyedSource extends UnitSource {
  readonly config: SourceConfig;
}

/** The units of a configuration that concern a host: those that any may take, and those that are pinned to it. */
export function unitsOfConfig(
  config: Config,
  host: string,
  platformName: string,
): Omit<OwnUnit, 'id' | 'target'>[] {
  const keyed = config.sources.map((source): KeyedSource & { at: Omit<Target, 'id'> } => {
    const at = targetOf(config, source, platformName);
    const targetName = JSON.stringify([at.baseUrl, at.botId, at.identity]);
    return {
      name: source.name,
      keyPrefix: source.keyPrefix,
      host: source.host,
      targetName,
      config: source,
      at,
    };
  });
  const shared = unitsOf(keyed.filter((one) => one.host === null));
  const pinned = unitsOf(keyed.filter((one) => one.host === host));
  return [
    ...shared.map((unit) => ({ unit, name: unit.name, isPinned: false })),
    // Two hosts may each have a source of the same name.
    ...pinned.map((unit) => ({ unit, name: `${unit.name}@${host}`, isPinned: true })),
  ].flatMap(({ unit, name, isPinned }) => {
    const [first] = unit.sources;
    return first === undefined
      ? []
      : [{ name, isPinned, at: first.at, sources: unit.sources.map((one) => one.config) }];
  });
}

/** Makes the units of a configuration known to the ledger. Throws `DatabaseError`. */
export async function declareUnits(
  { ledger, membership }: { readonly ledger: Ledger; readonly membership: Membership },
  config: Config,
  host: string,
  platformName: string,
): Promise<OwnUnit[]> {
  const own: OwnUnit[] = [];
  const told = notificationUnit(config, platformName);
  const notifications = told === null ? [] : [{ ...told, isPinned: false, sources: [] }];
  for (const unit of [...unitsOfConfig(config, host, platformName), ...notifications]) {
    const target = await ledger.target(unit.at);
    const sources = unit.sources.map(({ name, keyPrefix }) => ({ name, keyPrefix }));
    const pinned = unit.isPinned ? host : null;
    const { id } = await membership.declare({ target: target.id, name: unit.name, sources, pinned });
    own.push({ ...unit, id, target: target.id });
  }
  return own;
}

/** Whether a unit is as another one of its number was declared: of the same target, and with the same sources and prefixes. */
export function isSameUnit(one: OwnUnit, other: OwnUnit): boolean {
  const namesOf = ({ sources }: OwnUnit): string[][] =>
    sources.map(({ name, keyPrefix }) => [name, keyPrefix]);
  return (
    one.id === other.id &&
    one.target === other.target &&
    JSON.stringify(namesOf(one)) === JSON.stringify(namesOf(other))
  );
}

/**
 * A configuration with those of its sources that belong to some units. One whose bot, prefix or host is another by now does not: its
 * files are of another unit.
 */
export function onlySourcesOf(units: readonly OwnUnit[], config: Config, platformName: string): Config {
  const isOf = ({ at, sources }: OwnUnit, source: SourceConfig): boolean => {
    const { baseUrl, botId, identity } = targetOf(config, source, platformName);
    const isOfTarget = at.baseUrl === baseUrl && at.botId === botId && at.identity === identity;
    return (
      isOfTarget &&
      sources.some(
        ({ name, keyPrefix, host }) =>
          name === source.name && keyPrefix === source.keyPrefix && host === source.host,
      )
    );
  };
  return {
    ...config,
    sources: config.sources.filter((source) => units.some((unit) => isOf(unit, source))),
  };
}

/** Whether this host sees the directories of a unit. A share that hangs is waited for so long, milliseconds. */
export async function seesAll({ sources }: Pick<OwnUnit, 'sources'>, patienceMs: number): Promise<boolean> {
  const looks = sources.map(({ directory }) => isDirectory(directory));
  const all = Promise.all(looks).then((seen) => seen.every(Boolean));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => {
      resolve(false);
    }, patienceMs);
  });
  const answer = await Promise.race([all, late]);
  clearTimeout(timer);
  return answer;
}

/** Looks that wait for an answer: each takes one of the few threads that there are, for ever on a share that hangs. */
const waiting = new Map<string, Promise<boolean>>();

function isDirectory(path: string): Promise<boolean> {
  const known = waiting.get(path);
  if (known !== undefined) return known;
  const look = stat(path)
    .then(
      (facts) => facts.isDirectory(),
      () => false,
    )
    .finally(() => waiting.delete(path));
  waiting.set(path, look);
  return look;
}

/** A unit, of the configuration or of the ledger, as far as it matters for its keys. */
export interface KeyedUnit extends Pick<UnitRow, 'id' | 'target'> {
  readonly sources: readonly { readonly keyPrefix: string }[];
}

/**
 * Why a unit may not be worked on: another gives the same keys, was known to the ledger before it, and may be worked on. `null`: nothing
 * is in the way.
 */
export function overlapOf(
  own: KeyedUnit,
  { units, hosts }: Pick<ClusterView, 'units' | 'hosts'>,
  alive: readonly HostRow[],
): string | null {
  // The host of a pinned unit goes on with it when it is cut off from the database: it has not ended before it says so, or somebody does.
  const mayBeWorkedOn = (other: UnitRow): boolean =>
    isSomebodys(other, other.pinned === null ? alive : hosts.filter(({ name }) => name === other.pinned));
  const first = units.find((other) => other.id < own.id && mayGiveKeysOf(own, other) && mayBeWorkedOn(other));
  if (first === undefined) return null;
  const known = alive.find((host) => host.units.includes(first.id))?.name;
  const of = known ?? first.pinned ?? first.holderHost ?? 'another host';
  const isSilent = first.pinned !== null && !alive.some(({ name }) => name === first.pinned);
  const gone = isSilent ? `; if ${of} is gone for good, run: botsync cluster forget ${of}` : '';
  const or = first.pinned === null ? ', or the same "sources" to both hosts' : '';
  return `its keys may be those of "${first.name}" on ${of}; give one of them another keyPrefix${or}${gone}`;
}

/** How much of the work on units like this one a host is to have: all may tell people, which is no work. */
export function weightFor(
  unit: { readonly sources: readonly unknown[] },
  { weight }: Pick<HostRow, 'weight'>,
): number {
  return isOfNotifications(unit) ? 1 : weight;
}

/** Whether a unit of this host's may give a key that another unit of the ledger gives. */
export function mayGiveKeysOf(own: Pick<KeyedUnit, 'target' | 'sources'>, other: UnitRow): boolean {
  return (
    other.target === own.target &&
    other.sources.some((theirs) => own.sources.some((ours) => prefixesMeet(ours.keyPrefix, theirs.keyPrefix)))
  );
}

/** Whether a unit is held, or a host that is alive could take it. */
export function isSomebodys(unit: UnitRow, alive: readonly HostRow[]): boolean {
  return unit.holder !== null || alive.some(({ units }) => units.includes(unit.id));
}

/** Equal on hosts that treat shared files alike. */
export function digestOf(config: Config): string {
  const { platform, rules, limits, removals, sources } = config;
  const { baseUrl, identity, mark, operations } = platform;
  const shared = sources
    .filter(({ host }) => host === null)
    .map(({ name, keyPrefix, botId, ignore, symlinks }) => ({ name, keyPrefix, botId, ignore, symlinks }));
  const agreed = { baseUrl, identity, mark, operations, rules, limits, removals, shared };
  return createHash('sha256').update(JSON.stringify(agreed)).digest('hex').slice(0, 16);
}
