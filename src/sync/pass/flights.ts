import { sizeAndMtimeOf, type Fingerprint } from '../../domain/fingerprint.ts';
import { Multiset } from '../../domain/bag.ts';
import type { RowId } from '../../store/file-reader.ts';

/** What is done to one key. `hadToWait`: another flight of the key came before. */
type Flight = (hadToWait: boolean) => Promise<void>;

/**
 * Files on their way to the platform, and from it: nothing is done to a key twice at the same time. Outlives a reload,
 * as what is running then does.
 */
export class Flights {
  /** Of each key: resolves when its flight has ended, however it did. */
  readonly #underWay = new Map<string, Promise<void>>();
  /** Of the files that are to be sent. */
  readonly #sizesAndMtimes = new Multiset();

  /** How many are under way. */
  get count(): number {
    return this.#underWay.size;
  }

  /** Whether a key has one. */
  has(id: RowId): boolean {
    return this.#underWay.has(nameOf(id));
  }

  /** Resolves when the flight of a key that is under way has ended, whatever came of it. */
  async ended(id: RowId): Promise<void> {
    await this.#underWay.get(nameOf(id));
  }

  /** Whether a file of this size and mtime is on its way: perhaps the same under a new name. */
  mayHave(fingerprint: Fingerprint): boolean {
    return this.#sizesAndMtimes.has(sizeAndMtimeOf(fingerprint));
  }

  /** Runs a flight: at once, or after those of the same key that are under way. `fingerprint`: of a file to be sent. */
  async run(id: RowId, fingerprint: Fingerprint | null, flight: Flight): Promise<void> {
    const name = nameOf(id);
    const sizeAndMtime = fingerprint === null ? null : sizeAndMtimeOf(fingerprint);
    if (sizeAndMtime !== null) this.#sizesAndMtimes.add(sizeAndMtime);
    let hadToWait = false;
    for (let other = this.#underWay.get(name); other !== undefined; other = this.#underWay.get(name)) {
      hadToWait = true;
      await other;
    }
    let hasEnded: () => void = () => undefined;
    this.#underWay.set(name, new Promise((resolve) => (hasEnded = resolve)));
    try {
      await flight(hadToWait);
    } finally {
      this.#underWay.delete(name);
      hasEnded();
      if (sizeAndMtime !== null) this.#sizesAndMtimes.delete(sizeAndMtime);
    }
  }

  /** Resolves when those that are under way now have ended. */
  async allEnded(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }

  /** Resolves when none is under way. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await this.allEnded();
  }
}

function nameOf({ target, key }: RowId): string {
  return `${target} ${key}`;
}
