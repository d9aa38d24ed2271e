import { RegExpParser, type AST } from '@eslint-community/regexpp';

/** One step of a program; `next` and `ways` are positions in `Program.steps`. */
export type Step =
  | { readonly kind: 'done' }
  /** One UTF-16 code unit. */
  | { readonly kind: 'unit'; readonly accepts: (unit: number) => boolean; readonly next: number }
  | { readonly kind: 'choice'; readonly ways: readonly number[] }
  | { readonly kind: 'edge'; readonly edge: 'start' | 'end'; readonly next: number }
  /** Continues if the program at `ahead` in the list of programs succeeds here (`isNegative`: if it fails). */
  | { readonly kind: 'look'; readonly ahead: number; readonly isNegative: boolean; readonly next: number };

/** A regular expression, or the inside of a lookahead, as steps that lead to a step `done`. */
export interface Program {
  readonly steps: readonly Step[];
  readonly start: number;
}

/** A part of a regular expression that cannot be matched without backtracking. */
export class UnsupportedSyntax extends Error {
  readonly part: string;

  constructor(part: string) {
    super(`${part} is not supported`);
    this.part = part;
  }
}

/**
 * Translates a regular expression (flag s alone) into programs: each comes after those of its lookaheads, the whole expression
 * last.
 */
export function programsOf(source: string): Program[] {
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, { unicode: false });
  const programs: Program[] = [];
  new Compiler(programs, new Map()).compile(pattern.alternatives);
  return programs;
}

/** Compiles from the end to the start, so that each part knows the step that follows. */
class Compiler {
  readonly #programs: Program[];
  /** By the text of the lookahead. */
  readonly #known: Map<string, number>;
  readonly #steps: Step[] = [{ kind: 'done' }];

  constructor(programs: Program[], known: Map<string, number>) {
    this.#programs = programs;
    this.#known = known;
  }

  /** Returns the position of the program. */
  compile(alternatives: readonly AST.Alternative[]): number {
    const start = this.#alternatives(alternatives, 0);
    return this.#programs.push({ steps: this.#steps, start }) - 1;
  }

  #add(step: Step): number {
    return this.#steps.push(step) - 1;
  }

  #alternatives(alternatives: readonly AST.Alternative[], next: number): number {
    const ways = alternatives.map(({ elements }) =>
      elements.reduceRight((after, element) => this.#element(element, after), next),
    );
    return this.#add({ kind: 'choice', ways });
  }

  #element(element: AST.Element, next: number): number {
    switch (element.type) {
      case 'Group':
      case 'CapturingGroup':
        return this.#alternatives(element.alternatives, next);
      case 'Quantifier':
        return this.#quantifier(element, next);
      case 'Assertion':
        return this.#assertion(element, next);
      case 'Character':
        return this.#add({ kind: 'unit', accepts: (unit) => unit === element.value, next });
      case 'CharacterClass':
      case 'CharacterSet': {
        const expression = new RegExp(element.raw, 's');
        return this.#add({
          kind: 'unit',
          accepts: (unit) => expression.test(String.fromCharCode(unit)),
          next,
        });
      }
      case 'Backreference':
      case 'ExpressionCharacterClass':
        throw new UnsupportedSyntax(element.raw);
    }
  }

  #quantifier({ element, min, max }: AST.Quantifier, next: number): number {
    let after = next;
    if (max === Infinity) {
      const ways = [next];
      after = this.#add({ kind: 'choice', ways });
      ways.push(this.#element(element, after));
    } else {
      for (let optional = min; optional < max; optional += 1)
        after = this.#add({ kind: 'choice', ways: [next, this.#element(element, after)] });
    }
    for (let needed = 0; needed < min; needed += 1) after = this.#element(element, after);
    return after;
  }

  #assertion(assertion: AST.Assertion, next: number): number {
    switch (assertion.kind) {
      case 'start':
      case 'end':
        return this.#add({ kind: 'edge', edge: assertion.kind, next });
      case 'lookahead': {
        const { raw, alternatives, negate: isNegative } = assertion;
        const text = raw.slice('(?='.length);
        const ahead =
          this.#known.get(text) ?? new Compiler(this.#programs, this.#known).compile(alternatives);
        this.#known.set(text, ahead);
        return this.#add({ kind: 'look', ahead, isNegative, next });
      }
      case 'lookbehind':
      case 'word':
        throw new UnsupportedSyntax(assertion.raw);
    }
  }
}
