import type { ClusterView } from '../../cluster/membership.ts';
import { createHash } from 'node:crypto';
import type { Config } from '../../config/config.ts';
import type { Hindrance } from '../../domain/hindrance.ts';
import { canonicalJson, type JsonObject } from '../../domain/json.ts';
import { differencesOf } from '../../domain/source-settings.ts';
import type { Cluster } from './open-cluster.ts';
import { declareUnits, isSameUnit, settingsOf, type OwnUnit } from './own-units.ts';

/** Where the units of a host come from. */
export interface DeclaredUnitsInput {
  readonly cluster: Cluster;
  /** The configuration of now. */
  readonly config: () => Config;
  /** What the platform is called in records. */
  readonly platformName: (config: Config) => string;
}

/** The units of this host's configuration, as the ledger knows them. */
export class DeclaredUnits {
  readonly #input: DeclaredUnitsInput;
  #own: readonly OwnUnit[] | null = null;
  #before: readonly OwnUnit[] = [];
  /** The configuration that the ledger had of the sources when they were declared, as JSON. */
  #agreed: ReadonlyMap<string, string> = new Map();
  #differing: readonly Hindrance[] = [];

  constructor(input: DeclaredUnitsInput) {
    this.#input = input;
  }

  /** The units of the configuration; none until the ledger has them. */
  get all(): readonly OwnUnit[] {
    return this.#own ?? [];
  }

  /** The sources of the configuration that are none of its units, since the ledger has them otherwise. */
  get differing(): readonly Hindrance[] {
    return this.#differing;
  }

  /** A unit by its number. */
  find(id: number): OwnUnit | undefined {
    return this.#own?.find((own) => own.id === id);
  }

  /** They have to be declared anew. */
  forget(): void {
    this.#own = null;
  }

  /** Makes them known to the ledger, unless that was done. Gives those that are as they were declared before. Throws `DatabaseError`. */
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
   * A database that went back in time may not know what was declared, nor one in which somebody else wrote, and another host may have
   * replaced the configuration of a source. Gives whether all is as it was.
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

/** As PostgreSQL gives it. */
function md5Of(text: string): string {
  return createHash('md5').update(text).digest('hex');
}
