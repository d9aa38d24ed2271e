/** Values, each as often as it was added. */
export class Multiset {
  readonly #counts = new Map<string, number>();

  has(value: string): boolean {
    return this.#counts.has(value);
  }

  add(value: string): void {
    this.#counts.set(value, (this.#counts.get(value) ?? 0) + 1);
  }

  /** Takes a value out once. */
  delete(value: string): void {
    const others = (this.#counts.get(value) ?? 1) - 1;
    if (others === 0) this.#counts.delete(value);
    else this.#counts.set(value, others);
  }
}
