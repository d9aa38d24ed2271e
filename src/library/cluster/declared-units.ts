import type { ClusterView } from '../../cluster/membership.ts';
import type { Config } from '../../config/config.ts';
import type { Cluster } from './open-cluster.ts';
import { declareUnits, isSameUnit, seesAll, type OwnUnit } from './own-units.ts';

/** Where the units of a host come from. */
export interface DeclaredUnitsInput {
  readonly cluster: Cluster;
  /** The configuration of now. */
  readonly config: () => Config;
  /** What the platform is called in records. */
  readonly platformName: (config: Config) => string;
}

/** The units of this host's configuration, as the ledger knows them, and which of them it could work on. */
export class DeclaredUnits {
  readonly #input: DeclaredUnitsInput;
  #own: readonly OwnUnit[] | null = null;
  #before: readonly OwnUnit[] = [];
  #seen: readonly number[] = [];

  constructor(input: DeclaredUnitsInput) {
    this.#input = input;
  }

  /** The units of the configuration; none until the ledger has them. */
  get all(): readonly OwnUnit[] {
    return this.#own ?? [];
  }

  /** Numbers of the units whose directories were there when it was looked last. */
  get seen(): readonly number[] {
    return this.#seen;
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
    const own = await declareUnits(cluster, now, cluster.config.host, platformName(now));
    const unchanged = own.filter((one) => this.#before.some((before) => isSameUnit(one, before)));
    this.#own = own;
    this.#before = own;
    return unchanged;
  }

  /** A database that went back in time may not know what was declared, nor one in which somebody else wrote. */
  check({ units }: ClusterView): void {
    const isKnown = ({ id, name, target, sources }: OwnUnit): boolean =>
      units.some(
        (row) =>
          row.id === id &&
          row.name === name &&
          row.target === target &&
          row.sources.length > 0 === sources.length > 0,
      );
    if (!this.all.every(isKnown)) this.forget();
  }

  /** Looks which units' directories are there. A share that hangs is waited for so long, milliseconds. */
  async lookAround(patienceMs: number): Promise<void> {
    const looks = this.all.map(async (unit) => ((await seesAll(unit, patienceMs)) ? [unit.id] : []));
    this.#seen = (await Promise.all(looks)).flat();
  }
}
