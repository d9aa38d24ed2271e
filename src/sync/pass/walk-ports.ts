import { settingsComparer } from '../catalog/needs-no-content.ts';
import type { PlanPorts } from '../plan/plan-file.ts';
import type { RetryPorts } from './retry.ts';
import { planningTime, type WalkContext } from './sync-context.ts';

export function planPorts(
  target: number,
  context: WalkContext,
  isInDoubt: PlanPorts['isInDoubt'],
): PlanPorts {
  const { catalog, round, state } = context;
  return {
    target,
    claims: context.claims,
    limits: context.config.limits,
    now: planningTime(context),
    wallClock: context.clock.now,
    isForced: context.isForced,
    retriesFailed: context.retriesFailed,
    isInDoubt,
    listed: (key) => round.listings.find(target, key),
    needsNoContent: settingsComparer(state.remote, () => catalog?.serves(target, 'update') === true),
    adopt: ({ key }, source, path) => {
      context.state.adopt({ target, key }, source.config.name, path);
      context.claims.uncountKept({ target, key }, context.summary);
    },
  };
}

/** Returns the ports of repeated attempts for one path. `sizeBytes`: of the content that is sent. */
export function retryPorts(
  source: string,
  path: string,
  sizeBytes: number,
  context: WalkContext,
): RetryPorts {
  const { clock, random, breaker, transfer, fresh, isWatched, config, waitLimits, emit } = context;
  return {
    clock,
    random,
    breaker,
    transfer: (attempt) => transfer(attempt, sizeBytes),
    name: `${source}:${path}`,
    isFresh: isWatched && transfer === fresh,
    waitsForOutage: () => true,
    attempts: config.upload.attempts,
    longestPauseMs: waitLimits.pauseMs,
    onRetry: (reason, delayMs) => {
      emit({ kind: 'retrying', path: `${source}/${path}`, reason, delayMs });
    },
  };
}
