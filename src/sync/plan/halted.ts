import { describeHalt } from '../../words/halt.ts';
import type { Halt } from '../../domain/guard.ts';
import type { StateReader } from '../../store/state-reader.ts';

/** Returns whether such a halt is on record; otherwise the next pass would be the first to halt the source. */
export function isHaltedBy(kind: Halt['kind'], source: string, state: StateReader): boolean {
  return state.source(source)?.halt?.kind === kind;
}

/** Returns the explanation of a halt that a pass would meet. */
export function haltReason(halt: Halt, source: string, state: StateReader): string {
  return `the source ${isHaltedBy(halt.kind, source, state) ? 'is' : 'would be'} halted: ${describeHalt(halt)}`;
}
