/** What of a workspace's quotas has to do with files (docs/PLATFORM.md, Usage). */
export const QUOTAS = ['storage', 'vectorStorage', 'indexedFiles', 'largestFile'] as const;

/** One of them. */
export type Quota = (typeof QUOTAS)[number];

/** How much of a quota is used and may be, as the platform says: in which unit is not known. */
export interface Usage {
  readonly used: number;
  /** `null`: not told. */
  readonly allowed: number | null;
}

/** All that the platform tells; `null`: nothing of that quota. */
export type Usages = Readonly<Record<Quota, Usage | null>>;

/** What a plan takes of each quota beyond what is taken now: bytes, a number of files, and the bytes of its largest file. */
export type Additions = Readonly<Record<Quota, number>>;

/** A file as it counts against quotas. */
export interface Counted {
  readonly sizeBytes: number;
  readonly isIndexed: boolean;
}

/** What sending some files adds, each in the place of what is there under its key. */
export class AdditionCount {
  readonly #sums: Record<Quota, number> = { storage: 0, vectorStorage: 0, indexedFiles: 0, largestFile: 0 };

  /** @param before - what it takes the place of; `null`: nothing. */
  add(file: Counted, before: Counted | null): void {
    const indexedBytes = (one: Counted | null): number => (one?.isIndexed === true ? one.sizeBytes : 0);
    this.#sums.storage += file.sizeBytes - (before?.sizeBytes ?? 0);
    this.#sums.vectorStorage += indexedBytes(file) - indexedBytes(before);
    this.#sums.indexedFiles += Number(file.isIndexed) - Number(before?.isIndexed ?? false);
    this.#sums.largestFile = Math.max(this.#sums.largestFile, file.sizeBytes);
  }

  /** Below zero where more is given back than taken. */
  get additions(): Additions {
    return { ...this.#sums };
  }
}

/** A quota that a plan would go over, if the platform counts as botsync does: bytes and files. */
export interface Excess {
  readonly quota: Quota;
  readonly used: number;
  readonly allowed: number;
  readonly added: number;
}

/** Which quotas a plan would go over. */
export function excessesOf(usages: Usages, additions: Additions): Excess[] {
  return QUOTAS.flatMap((quota) => {
    const { used = 0, allowed = null } = usages[quota] ?? {};
    const added = additions[quota];
    if (allowed === null || added <= 0) return [];
    const wanted = quota === 'largestFile' ? added : used + added;
    return wanted > allowed ? [{ quota, used, allowed, added }] : [];
  });
}
