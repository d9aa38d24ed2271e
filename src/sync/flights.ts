import type { RowId } from '../state/state-reader.ts';

/** Files on their way to the platform: one key is never sent twice at the same time. */
export class Flights {
  readonly #underWay = new Map<string, Promise<void>>();

  /** How many are under way. */
  get count(): number {
    return this.#underWay.size;
  }

  /** Runs a flight: at once, or after the one of the same key that is under way, which it is told. */
  run({ target, key }: RowId, flight: (hadToWait: boolean) => Promise<void>): Promise<void> {
    const name = `${target} ${key}`;
    const before = this.#underWay.get(name);
    if (before !== undefined) return this.#after(before, { target, key }, flight);
    return this.#begin(name, () => flight(false));
  }

  #begin(name: string, flight: () => Promise<void>): Promise<void> {
    const own = flight().finally(() => {
      this.#underWay.delete(name);
    });
    this.#underWay.set(name, own);
    return own;
  }

  async #after(
    before: Promise<void>,
    id: RowId,
    flight: (hadToWait: boolean) => Promise<void>,
  ): Promise<void> {
    // Whoever began it hears of its failure.
    await before.catch(() => undefined);
    await this.run(id, () => flight(true));
  }
}
