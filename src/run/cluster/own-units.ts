import type { Target, ClusterView, HostRow, UnitRow, SharedLedger } from '../../cluster/shared-ledger.ts';
import type { Config, SourceConfig } from '../../config/config.ts';
import { type JsonObject, canonicalJson } from '../../domain/json.ts';
import { prefixesMeet, unitsOf, type UnitSource } from '../../domain/unit.ts';
import { targetOf } from '../../sync/sources/source.ts';
import { createHash } from 'node:crypto';
import { type Hindrance, differencesOf } from '../../domain/hindrance.ts';
import type { ClusterHost } from './open-cluster.ts';

export interface OwnUnit {
  readonly id: number;
  readonly name: string;
  readonly target: number;
  readonly at: Omit<Target, 'id'>;
  readonly sources: readonly SourceConfig[];
}

interface KeyedSource extends UnitSource {
  readonly config: SourceConfig;
}

/** Returns the units of a configuration. */
export function unitsOfConfig(config: Config, platformName: string): Omit<OwnUnit, 'id' | 'target'>[] {
  const keyed = config.sources.map((source): KeyedSource & { at: Omit<Target, 'id'> } => {
    const at = targetOf(config, source, platformName);
    const targetName = JSON.stringify([at.baseUrl, at.botId, at.identity]);
    return { name: source.name, keyPrefix: source.keyPrefix, targetName, config: source, at };
  });
  return unitsOf(keyed).flatMap(({ name, sources }) => {
    const [first] = sources;
    return first === undefined ? [] : [{ name, at: first.at, sources: sources.map((one) => one.config) }];
  });
}

/**
 * Declares the units of a configuration in the ledger. Throws `DatabaseError`.
 *
 * @param differing - names of sources for which the ledger has other settings: their units are skipped.
 */
async function declareUnits(
  { ledger, membership }: Pick<SharedLedger, 'ledger' | 'membership'>,
  config: Config,
  platformName: string,
  differing: ReadonlySet<string>,
): Promise<OwnUnit[]> {
  const own: OwnUnit[] = [];
  const agreed = unitsOfConfig(config, platformName).filter(
    ({ sources }) => !sources.some(({ name }) => differing.has(name)),
  );
  for (const unit of agreed) {
    const target = await ledger.target(unit.at);
    const sources = unit.sources.map(({ name, keyPrefix }) => ({ name, keyPrefix }));
    const { id } = await membership.declare({ target: target.id, name: unit.name, sources });
    own.push({ ...unit, id, target: target.id });
  }
  return own;
}

/** Returns whether two declarations of a unit have the same target, sources and prefixes. */
function isSameUnit(one: OwnUnit, other: OwnUnit): boolean {
  const namesOf = ({ sources }: OwnUnit): string[][] =>
    sources.map(({ name, keyPrefix }) => [name, keyPrefix]);
  return (
    one.id === other.id &&
    one.target === other.target &&
    JSON.stringify(namesOf(one)) === JSON.stringify(namesOf(other))
  );
}

/**
 * Returns a configuration with only the sources of some units. A source whose bot or prefix has changed is not
 * included: its files are in another unit.
 */
export function onlySourcesOf(units: readonly OwnUnit[], config: Config, platformName: string): Config {
  const isOf = ({ at, sources }: OwnUnit, source: SourceConfig): boolean => {
    const { baseUrl, botId, identity } = targetOf(config, source, platformName);
    const isOfTarget = at.baseUrl === baseUrl && at.botId === botId && at.identity === identity;
    return (
      isOfTarget &&
      sources.some(({ name, keyPrefix }) => name === source.name && keyPrefix === source.keyPrefix)
    );
  };
  return {
    ...config,
    sources: config.sources.filter((source) => units.some((unit) => isOf(unit, source))),
  };
}

/** The parts of a unit, declared or in the ledger, that decide about its keys. */
interface KeyedUnit extends Pick<UnitRow, 'id' | 'target'> {
  readonly sources: readonly { readonly keyPrefix: string }[];
}

/**
 * Returns why a unit may not be worked on; `null`: it may. An earlier unit that may give the same keys, and that is
 * held or could be taken, comes first.
 */
export function overlapOf(
  own: KeyedUnit,
  { units }: Pick<ClusterView, 'units'>,
  alive: readonly HostRow[],
): string | null {
  const first = units.find(
    (other) => other.id < own.id && mayGiveKeysOf(own, other) && isSomebodys(other, alive),
  );
  if (first === undefined) return null;
  const known = alive.find((host) => host.units.includes(first.id))?.name;
  const of = known ?? first.holderHost ?? 'another host';
  return `its keys may be those of "${first.name}" on ${of}; give one of them another keyPrefix, or the same "sources" to both hosts`;
}

/** Returns whether two units may give the same key. */
export function mayGiveKeysOf(own: Pick<KeyedUnit, 'target' | 'sources'>, other: UnitRow): boolean {
  return (
    other.target === own.target &&
    other.sources.some((theirs) => own.sources.some((ours) => prefixesMeet(ours.keyPrefix, theirs.keyPrefix)))
  );
}

/** Returns whether a unit is held, or a live host could take it. */
export function isSomebodys(unit: UnitRow, alive: readonly HostRow[]): boolean {
  return unit.holder !== null || alive.some(({ units }) => units.includes(unit.id));
}

/**
 * Returns the settings that decide which keys a source gives, what is sent under them and what is removed. They must be
 * the same on all hosts that sync the source; its directory may differ.
 */
export function settingsOf(config: Config, source: SourceConfig, platformName: string): JsonObject {
  const { platform, limits, removals } = config;
  const { keyPrefix, ignore, symlinks } = source;
  const { baseUrl, botId, identity } = targetOf(config, source, platformName);
  const { mode, delayMs, maxCount, maxFraction } = removals;
  const rules = config.rules.filter(({ sources }) => sources?.includes(source.name) !== false);
  const settings = {
    platform: { baseUrl, identity, mark: platform.mark, operations: platform.operations },
    ...{ botId, keyPrefix, ignore, symlinks },
    rules: rules.map(({ match, set }) => ({ match, set })),
    limits,
    removals: { mode, delay: `${delayMs}ms`, maxCount, maxFraction },
  };
  // Drops undefined fields.
  return JSON.parse(JSON.stringify(settings)) as JsonObject;
}

/** The units of this host's configuration, as declared in the ledger. */
export class DeclaredUnits {
  readonly #input: ClusterHost;
  #own: readonly OwnUnit[] | null = null;
  #before: readonly OwnUnit[] = [];
  /** The settings that the ledger had for each source at the declaration, as JSON. */
  #agreed: ReadonlyMap<string, string> = new Map();
  #differing: readonly Hindrance[] = [];

  constructor(input: ClusterHost) {
    this.#input = input;
  }

  /** Units of the configuration; empty until they are declared. */
  get all(): readonly OwnUnit[] {
    return this.#own ?? [];
  }

  /** Sources that are in no unit of this host, because the ledger has other settings for them. */
  get differing(): readonly Hindrance[] {
    return this.#differing;
  }

  find(id: number): OwnUnit | undefined {
    return this.#own?.find((own) => own.id === id);
  }

  /** Makes the next `declare` declare the units again. */
  forget(): void {
    this.#own = null;
  }

  /**
   * Declares the units unless that was done, then `null`. Returns the units that are as they were declared before.
   * Throws `DatabaseError`.
   */
  async declare(): Promise<readonly OwnUnit[] | null> {
    if (this.#own !== null) return null;
    const { cluster, config, platformName } = this.#input;
    const now = config();
    const name = platformName(now);
    const settings = new Map(
      now.sources.map((source) => [source.name, canonicalJson(settingsOf(now, source, name))]),
    );
    const agreed = await cluster.sourceSettings.bring(cluster.config.host, settings);
    const differing = [...settings].flatMap(([source, text]): Hindrance[] => {
      const theirs = agreed.get(source) ?? text;
      if (theirs === text) return [];
      const fields = differencesOf(JSON.parse(text) as JsonObject, JSON.parse(theirs) as JsonObject);
      return [{ kind: 'differing', source, fields }];
    });
    const own = await declareUnits(cluster, now, name, new Set(differing.map(({ source }) => source)));
    this.#agreed = agreed;
    this.#differing = differing;
    const unchanged = own.filter((one) => this.#before.some((before) => isSameUnit(one, before)));
    this.#own = own;
    this.#before = own;
    return unchanged;
  }

  /**
   * Returns whether the ledger still has what was declared. It may not, after a database went back in time, was edited,
   * or after another host replaced the settings of a source.
   */
  check({ units, settings }: ClusterView): boolean {
    const isKnown = ({ id, name, target }: OwnUnit): boolean =>
      units.some(
        (row) => row.id === id && row.name === name && row.target === target && row.sources.length > 0,
      );
    const isAgreed = [...this.#agreed].every(([source, text]) => settings.get(source) === md5Of(text));
    if (this.all.every(isKnown) && isAgreed) return true;
    this.forget();
    return false;
  }
}

/** The same digest as PostgreSQL's `md5`. */
function md5Of(text: string): string {
  return createHash('md5').update(text).digest('hex');
}
