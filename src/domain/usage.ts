/** The quotas of a workspace that concern files (test/conformance/CONTRACT.md, Usage). */
export const QUOTAS = ['storage', 'vectorStorage', 'indexedFiles', 'largestFile'] as const;

/** A quota of a workspace that concerns files. */
export type Quota = (typeof QUOTAS)[number];

/** Use and limit of a quota, as the platform reports them, in an unknown unit. */
export interface Usage {
  readonly used: number;
  /** `null`: unknown. */
  readonly allowed: number | null;
}

/** All reported quotas; `null`: not reported. */
export type Usages = Readonly<Record<Quota, Usage | null>>;

/** The amounts that a plan adds to the quotas: bytes, a number of files, and the bytes of its largest file. */
export type Additions = Readonly<Record<Quota, number>>;

export interface Counted {
  readonly sizeBytes: number;
  readonly isIndexed: boolean;
}

/** Adds up what sending some files takes of each quota; each file replaces the one under its key. */
export class AdditionCount {
  readonly #sums: Record<Quota, number> = { storage: 0, vectorStorage: 0, indexedFiles: 0, largestFile: 0 };

  /** @param before - the file that it replaces; `null`: none. */
  add(file: Counted, before: Counted | null): void {
    const indexedBytes = (one: Counted | null): number => (one?.isIndexed === true ? one.sizeBytes : 0);
    this.#sums.storage += file.sizeBytes - (before?.sizeBytes ?? 0);
    this.#sums.vectorStorage += indexedBytes(file) - indexedBytes(before);
    this.#sums.indexedFiles += Number(file.isIndexed) - Number(before?.isIndexed ?? false);
    this.#sums.largestFile = Math.max(this.#sums.largestFile, file.sizeBytes);
  }

  /** Below zero where more is freed than taken. */
  get additions(): Additions {
    return { ...this.#sums };
  }
}

/** A quota that a plan would exceed, if the platform counts like botsync: bytes and files. */
export interface Excess {
  readonly quota: Quota;
  readonly used: number;
  readonly allowed: number;
  readonly added: number;
}

export function excessesOf(usages: Usages, additions: Additions): Excess[] {
  return QUOTAS.flatMap((quota) => {
    const { used = 0, allowed = null } = usages[quota] ?? {};
    const added = additions[quota];
    if (allowed === null || added <= 0) return [];
    const wanted = quota === 'largestFile' ? added : used + added;
    return wanted > allowed ? [{ quota, used, allowed, added }] : [];
  });
}
