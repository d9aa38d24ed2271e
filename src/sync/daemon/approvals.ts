import { isApproved, type Halt } from '../../domain/guard.ts';

/** What came of an approval, by the names of sources. */
export interface Approval {
  readonly approved: readonly string[];
  /** Their directory cannot be found: there is nothing to approve. */
  readonly missing: readonly string[];
}

/** Halts that someone has checked. Each holds for one pass that was made to its end, and for that halt alone. */
export class Approvals {
  readonly #given = new Map<string, Halt>();

  /** Approves of the halts of one source, or of all. */
  give(halts: ReadonlyMap<string, Halt>, source: string | null): Approval {
    const meant = [...halts].filter(([name]) => source === null || name === source);
    const [missing, approved] = [true, false].map((isMissing) =>
      meant.filter(([, { kind }]) => (kind === 'missing') === isMissing),
    ) as [typeof meant, typeof meant];
    for (const [name, halt] of approved) this.#given.set(name, halt);
    return { approved: approved.map(([name]) => name), missing: missing.map(([name]) => name) };
  }

  /** Those given until now. */
  get pending(): ReadonlyMap<string, Halt> {
    return new Map(this.#given);
  }

  /** Whether a halt that is met is one that was approved of. */
  allows(source: string, halt: Halt): boolean {
    const approved = this.#given.get(source);
    return approved !== undefined && isApproved(halt, approved);
  }

  /** A pass was made to its end: those given before it are used up. */
  used(before: ReadonlyMap<string, Halt>): void {
    for (const [name, halt] of before) if (this.#given.get(name) === halt) this.#given.delete(name);
  }
}
