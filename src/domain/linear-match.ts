import { RegExpParser, type AST } from '@eslint-community/regexpp';

/** For each program and each of its steps: 1 if the step succeeds at one position of a text, otherwise 0. */
type Successes = readonly Uint8Array[];

/** The knowledge about a position after reading everything behind it. */
interface State {
  readonly successes: Successes;
  /** No step of the whole expression succeeds here, so none does further to the front. */
  readonly isDead: boolean;
  /** The states one position further to the front, by the code unit between. */
  readonly before: State[];
  /** The match results, by the first code unit of the text. */
  readonly results: Map<number, boolean>;
}

/** Counted in steps. */
const MOST_KEPT = 250_000;

/**
 * Returns a predicate for whole, non-empty texts that match a regular expression (flag s alone, no back references, no
 * lookbehind). Its time is linear in the length of the text, for any expression.
 *
 * It reads a text from its end: the rest of the text decides which steps succeed at a position, lookaheads included, and the
 * positions before it follow one by one. Known sets of successful steps are cached.
 *
 * @throws `UnsupportedSyntax`, or `SyntaxError` for an invalid expression.
 */
export function linearMatcher(source: string): (text: string) => boolean {
  const programs = programsOf(source);
  const size = programs.reduce((sum, { steps }) => sum + steps.length, 0);
  const isMatch = (successes: Successes): boolean => isSuccess(programs, successes, programs.length - 1);
  let end = newState(successesAt(programs, null, 0, false));
  const known = new Map<string, State>();
  let kept = 0;

  const stateOf = (successes: Successes): State => {
    const identity = successes.join();
    const found = known.get(identity);
    if (found !== undefined) return found;
    if (kept > MOST_KEPT) {
      known.clear();
      kept = 0;
      end = newState(end.successes);
    }
    const state = newState(successes);
    known.set(identity, state);
    kept += size;
    return state;
  };

  return (text) => {
    let state = end;
    for (let place = text.length - 1; place > 0; place -= 1) {
      const unit = text.charCodeAt(place);
      let before = state.before[unit];
      if (before === undefined) {
        before = stateOf(successesAt(programs, state.successes, unit, false));
        state.before[unit] = before;
        kept += 1;
      }
      if (before.isDead) return false;
      state = before;
    }
    const unit = text.charCodeAt(0);
    let result = state.results.get(unit);
    if (result === undefined) {
      result = isMatch(successesAt(programs, state.successes, unit, true));
      state.results.set(unit, result);
      kept += 1;
    }
    return result;
  };
}

function newState(successes: Successes): State {
  const isDead = successes.at(-1)?.every((success) => success === 0) ?? true;
  return { successes, isDead, before: [], results: new Map() };
}

function isSuccess(programs: readonly Program[], successes: Successes, program: number): boolean {
  const start = programs[program]?.start;
  return start !== undefined && successes[program]?.[start] === 1;
}

/** @param behind - the successes one position further to the back, `null` at the end; `unit` is the code unit between. */
function successesAt(
  programs: readonly Program[],
  behind: Successes | null,
  unit: number,
  isStart: boolean,
): Successes {
  const successes: Uint8Array[] = [];
  programs.forEach(({ steps }, program) => {
    const own = new Uint8Array(steps.length);
    const isWhole = program === programs.length - 1;
    const holds = (step: Step): boolean => {
      switch (step.kind) {
        case 'done':
          return !isWhole || behind === null;
        case 'unit':
          return behind?.[program]?.[step.next] === 1 && step.accepts(unit);
        case 'choice':
          return step.ways.some((way) => own[way] === 1);
        case 'edge':
          return own[step.next] === 1 && (step.edge === 'start' ? isStart : behind === null);
        case 'look':
          return own[step.next] === 1 && isSuccess(programs, successes, step.ahead) !== step.isNegative;
      }
    };
    // Steps come after those that they lead to, except in loops: these need the repetition.
    let hasChanged = true;
    while (hasChanged) {
      hasChanged = false;
      steps.forEach((step, at) => {
        if (own[at] === 1 || !holds(step)) return;
        own[at] = 1;
        hasChanged = true;
      });
    }
    successes.push(own);
  });
  return successes;
}

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
function programsOf(source: string): Program[] {
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
