import type { WalkContext } from './sync-context.ts';
import type { RetryPorts } from './retry.ts';

/** What repeated attempts for one path need of a walk. `sizeBytes`: of the content that is sent. */
export function retryPorts(
  source: string,
  path: string,
  sizeBytes: number,
  context: WalkContext,
): RetryPorts {
  const { clock, random, breaker, transfer, fresh, isWatched, config, waitLimits, report } = context;
  return {
    clock,
    random,
    breaker,
    transfer: (attempt) => transfer(attempt, sizeBytes),
    name: `${source}:${path}`,
    isFresh: isWatched && transfer === fresh,
    waitsForOutage: () => true,
    attempts: config.upload.attempts,
    giveUpAfterMs: waitLimits.pauseMs,
    onRetry: (reason, delayMs) => {
      report.retrying(`${source}:${path}`, reason, delayMs);
    },
  };
}
