import type { DaemonActivity } from '../events.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Halt } from '../../domain/guard.ts';
import type { Pause } from '../../domain/pause.ts';
import { describeHalt } from '../../words/halt.ts';
import type { Blockade } from '../pass/blockade.ts';
import type { SyncContext } from '../pass/sync-context.ts';
import type { DueDates } from './due-dates.ts';
import { pauseStatusOf } from '../plan/overview.ts';
import type { Passes } from './passes.ts';
import type { PathRescans } from './path-rescans.ts';

export interface ActivityInput {
  readonly syncContext: Pick<SyncContext, 'keyLocks' | 'breaker'>;
  readonly blockade: Pick<Blockade, 'refusal' | 'shortage'>;
  readonly pause: Pause | null;
  readonly passes: Pick<Passes, 'isUnderWay' | 'hasEnded' | 'outlook'>;
  readonly rescans: Pick<PathRescans, 'waiting'>;
  readonly dueDates: Pick<DueDates, 'failedRenewalsAgainMs'>;
  /** Watched directories by source. */
  readonly watched: ReadonlyMap<string, number>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

export function activityOf(input: ActivityInput): DaemonActivity {
  const { pause, passes, rescans, dueDates, watched, clock } = input;
  const { keyLocks, breaker } = input.syncContext;
  const { refusal, shortage } = input.blockade;
  const { outage } = breaker;
  const { nextPassMs, failedAgainMs } = passes.outlook;
  return {
    activity: passes.isUnderWay ? 'pass' : passes.hasEnded ? 'watching' : 'starting',
    isFirstPassOver: passes.hasEnded,
    watchedDirectories: [...watched.values()].reduce((sum, one) => sum + one, 0),
    queued: rescans.waiting,
    sending: keyLocks.count,
    platformOutOfReach: breaker.isOpen,
    outage: outage && {
      since: new Date(outage.sinceMs).toISOString(),
      nextTry: outage.nextProbeMs === null ? null : new Date(outage.nextProbeMs).toISOString(),
      reason: outage.reason,
    },
    refusal,
    shortage,
    blocked: refusal ?? shortage,
    pause: pause && pauseStatusOf(pause),
    nextPass: momentOf(nextPassMs, clock),
    failedAgain: momentOf(failedAgainMs, clock),
    renewalsAgain: momentOf(dueDates.failedRenewalsAgainMs, clock),
  };
}

/** Returns the reasons why the daemon is not fully working now, for messages. `halts`: by source. */
export function impedimentsOf(
  { syncContext, blockade, passes, pause }: Omit<ActivityInput, 'rescans' | 'dueDates' | 'watched' | 'clock'>,
  halts: ReadonlyMap<string, Halt>,
): string[] {
  const { refusal, shortage } = blockade;
  const { outage } = syncContext.breaker;
  return [
    ...(outage === null ? [] : [`the platform is unreachable: ${outage.reason}`]),
    ...(pause === null ? [] : ['paused by a command']),
    ...(passes.hasEnded ? [] : ['the first pass has not ended']),
    ...(refusal === null ? [] : [`the platform refuses the credentials: ${refusal}`]),
    ...(shortage === null ? [] : [`a quota is used up: ${shortage}`]),
    ...[...halts].map(([name, halt]) => `${name} is halted: ${describeHalt(halt)}`),
  ];
}

/** Converts a time of the monotonic clock to ISO 8601; a time in the past becomes now. */
function momentOf(monotonicMs: number | null, clock: ActivityInput['clock']): string | null {
  if (monotonicMs === null) return null;
  const leftMs = Math.max(0, Math.round(monotonicMs - clock.monotonic()));
  return new Date(Math.round(clock.now()) + leftMs).toISOString();
}
