import fc from 'fast-check';
import type { Model } from './model.ts';

/** One command of a run: what it does to the model's directories and to the real system alike. */
export class Step<Real> implements fc.AsyncCommand<Model, Real> {
  readonly #label: string;
  readonly #isPossible: (model: Model) => boolean;
  readonly #act: (model: Model, real: Real) => Promise<void> | void;

  constructor(
    label: string,
    isPossible: (model: Model) => boolean,
    act: (model: Model, real: Real) => Promise<void> | void,
  ) {
    this.#label = label;
    this.#isPossible = isPossible;
    this.#act = act;
  }

  check(model: Readonly<Model>): boolean {
    return this.#isPossible(model);
  }

  async run(model: Model, real: Real): Promise<void> {
    await this.#act(model, real);
  }

  toString(): string {
    return this.#label;
  }
}

/** The element that a number picks; `undefined` of nothing. */
export function pick<T>(from: readonly T[], number: number): T | undefined {
  return from[number % Math.max(1, from.length)];
}
