import type { PlanPorts } from '../plan/plan-source.ts';
import { planningTime, type WalkContext } from './sync-context.ts';

/** What planning needs of a walk. */
export function planPorts(
  target: number,
  context: WalkContext,
  isInDoubt: PlanPorts['isInDoubt'],
): PlanPorts {
  return {
    target,
    claims: context.claims,
    limits: context.config.limits,
    now: planningTime(context),
    wallClock: context.clock.now,
    isForced: context.isForced,
    retriesFailed: context.retriesFailed,
    isInDoubt,
    adopt: ({ key }, source, path) => {
      context.state.adopt({ target, key }, source.config.name, path);
      context.claims.uncountKept({ target, key }, context.summary);
    },
  };
}
