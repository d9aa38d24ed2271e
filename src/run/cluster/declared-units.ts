import type { ClusterView } from '../../cluster/shared-ledger.ts';
import { createHash } from 'node:crypto';
import type { Config } from '../../config/config.ts';
import { type Hindrance, differencesOf } from '../../domain/hindrance.ts';
import { canonicalJson, type JsonObject } from '../../domain/json.ts';
import type { Cluster } from './open-cluster.ts';
import { declareUnits, isSameUnit, settingsOf, type OwnUnit } from './own-units.ts';

export interface DeclaredUnitsInput {
  readonly cluster: Cluster;
  readonly config: () => Config;
  readonly platformName: (config: Config) => string;
}

/** The units of this host's configuration, as declared in the ledger. */
export class DeclaredUnits {
  readonly #input: DeclaredUnitsInput;
  #own: readonly OwnUnit[] | null = null;
  #before: readonly OwnUnit[] = [];
  /** The settings that the ledger had for each source at the declaration, as JSON. */
  #agreed: ReadonlyMap<string, string> = new Map();
  #differing: readonly Hindrance[] = [];

  constructor(input: DeclaredUnitsInput) {
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
