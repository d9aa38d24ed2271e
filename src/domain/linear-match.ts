import { programsOf, type Program, type Step } from './regexp-program.ts';

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
