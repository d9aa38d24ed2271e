import { sizeAndMtimeOf, type Fingerprint } from '../../domain/fingerprint.ts';
import { Multiset } from '../../domain/bag.ts';
import type { RowId } from '../../store/file-reader.ts';

/** An operation on one key. `hadToWait`: another task of the key came before. */
type LockedTask = (hadToWait: boolean) => Promise<void>;

/** Operations in progress, at most one per key at a time. Outlives a reload, as running work does. */
export class KeyLocks {
  /** By key; resolves when the task has ended, even in failure. */
  readonly #underWay = new Map<string, Promise<void>>();
  /** Of the files being sent. */
  readonly #sizesAndMtimes = new Multiset();

  get count(): number {
    return this.#underWay.size;
  }

  has(id: RowId): boolean {
    return this.#underWay.has(nameOf(id));
  }

  /** Resolves when the key has no task, or its task has ended. */
  async ended(id: RowId): Promise<void> {
    await this.#underWay.get(nameOf(id));
  }

  /** Returns whether a file of this size and mtime is being sent: perhaps the same file under a new name. */
  mayHave(fingerprint: Fingerprint): boolean {
    return this.#sizesAndMtimes.has(sizeAndMtimeOf(fingerprint));
  }

  /** Runs a task, after those of the same key. `fingerprint`: of a file to send. */
  async run(id: RowId, fingerprint: Fingerprint | null, task: LockedTask): Promise<void> {
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
      await task(hadToWait);
    } finally {
      this.#underWay.delete(name);
      hasEnded();
      if (sizeAndMtime !== null) this.#sizesAndMtimes.delete(sizeAndMtime);
    }
  }

  async allEnded(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }

  /** Resolves when no task is left. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await this.allEnded();
  }
}

function nameOf({ target, key }: RowId): string {
  return `${target} ${key}`;
}
