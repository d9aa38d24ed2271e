import type { Config } from '../../config/config.ts';
import type { Halt } from '../../domain/guard.ts';
import type { StateReader } from '../../state/state-reader.ts';
import type { Claims } from './claims.ts';
import { enterSource } from '../sources/enter-source.ts';
import { planSource, type PlanItem } from './plan-source.ts';
import type { FoundSource, Source } from '../sources/source.ts';

/** What to look ahead with. Nothing is sent and nothing is written. */
export interface LookAheadInput {
  readonly config: Config;
  readonly sources: readonly FoundSource[];
  readonly state: StateReader;
  readonly claims: Claims;
  /** The platform's time, epoch milliseconds. */
  readonly platformNow: () => number;
  /** Ours, epoch milliseconds. */
  readonly now: () => number;
  readonly isForced: (path: string) => boolean;
}

/** What a pass would come upon. */
export type Ahead =
  | { readonly kind: 'item'; readonly source: Source; readonly target: number; readonly item: PlanItem }
  | { readonly kind: 'halt'; readonly source: string; readonly halt: Halt }
  /** The source was seen to its end, or (`isComplete` false) some of it could not be seen. */
  | { readonly kind: 'end'; readonly source: Source; readonly target: number; readonly isComplete: boolean };

/** Everything a pass would do, in its order, without doing it. */
export function* lookAhead(input: LookAheadInput): Generator<Ahead, void> {
  const { config, state, claims } = input;
  for (const one of input.sources) {
    const name = one.config.name;
    if (one.kind === 'missing') {
      yield { kind: 'halt', source: name, halt: one.halt };
      continue;
    }
    const { source } = one;
    const target = state.targetId(source.syncTarget);
    const entering = enterSource(source, target, state, config.removals.mode, () => false);
    let step = entering.next();
    try {
      for (; step.done !== true; step = entering.next())
        yield { kind: 'item', source, target, item: { kind: 'tick' } };
    } finally {
      if (step.done !== true) entering.return({ kind: 'open', entries: [], approved: [] });
    }
    const entered = step.value;
    if (entered.kind === 'halted') {
      yield { kind: 'halt', source: name, halt: entered.halt };
      continue;
    }
    let isComplete = true;
    const ports = {
      target,
      claims,
      limits: config.limits,
      now: input.platformNow,
      wallClock: input.now,
      isForced: input.isForced,
      retriesFailed: true,
      isInDoubt: () => false,
    };
    for (const item of planSource(source, entered.entries, state.records(target, name), ports)) {
      if (item.kind === 'problem' && item.hidesFiles) isComplete = false;
      yield { kind: 'item', source, target, item };
    }
    yield { kind: 'end', source, target, isComplete };
  }
}
