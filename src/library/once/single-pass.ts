import type { Summary } from '../../domain/report.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { StateStore } from '../../state/state-store.ts';
import { Flights } from '../../sync/pass/flights.ts';
import { runPass } from '../../sync/pass/pass.ts';
import {
  createSyncContext,
  NO_CHANGE_FEED,
  unwatchedStages,
  type SyncContext,
} from '../../sync/pass/sync-context.ts';
import type { Estimate } from '../../sync/plan/estimate.ts';
import { countAhead } from '../count-ahead.ts';
import { platformName } from '../load.ts';
import { holdOf } from '../../cli/render/hold.ts';
import { forced } from '../../cli/sync-options.ts';
import { Confirmation } from './confirmation.ts';
import { tellUsage, warnOfQuotas } from '../../cli/usage.ts';
import type { OnceRun } from './sound-pass.ts';

/** How a single pass ended. `sawAll`: it came to its end, or was stopped only while it waited for the platform's word. */
export interface PassEnd {
  readonly exitCode: number;
  readonly sawAll: boolean;
}

/** One pass over everything, with a progress line where one is shown. Throws `StateFileError`. */
export async function singlePass(run: OnceRun, state: StateStore, summary: Summary): Promise<PassEnd> {
  const { options, config, waitMs, signals, view, notifier } = run;
  const confirmation = new Confirmation(waitMs, view, summary);
  const { isForced, warnIfUnused } = forced(options);
  const ended = new AbortController();
  if (options.usage) await foretell(run, state, isForced);
  const counting = view.showsProgress ? count(run, state, isForced, ended.signal) : Promise.resolve();
  // The pass meets what the count meets; it is thrown below, after the pass.
  counting.catch(() => undefined);
  try {
    const syncContext = contextOf(run, state, confirmation);
    view.waitsBy(() => holdOf(syncContext.breaker.outage, run.pausedForMs(), config.upload.giveUpAfterMs));
    confirmation.begin(syncContext);
    const exitCode = await runPass(syncContext, {
      summary,
      isForced,
      isAllowed: () => options.allowRemovals,
      allSent: () => confirmation.wait(),
    });
    if (!signals.stop.aborted) warnIfUnused(view);
    notifier?.passEnded(syncContext);
    return { exitCode, sawAll: !signals.stop.aborted || confirmation.hasBegunToWait };
  } finally {
    await confirmation.end();
    ended.abort();
    await counting;
  }
}

function contextOf(
  { options, config, platform, catalog, signals, view, notifier }: OnceRun,
  state: StateStore,
  confirmation: Confirmation,
): SyncContext {
  const { giveUpAfterMs } = config.upload;
  return createSyncContext({
    config,
    platformName: platformName(options, config),
    state,
    platform,
    catalog,
    clock: systemClock,
    random: Math.random,
    report: view,
    onWord: (outcome) => {
      confirmation.count(outcome);
    },
    waitLimits: { outageMs: giveUpAfterMs, pauseMs: giveUpAfterMs, removalMs: 0 },
    howToAllow: 'run once with --allow-removals',
    stages: unwatchedStages(),
    isWatched: false,
    ...(notifier?.announces === true && {
      onDelivery: (delivery) => {
        notifier.delivered(delivery);
      },
    }),
    changeFeed: NO_CHANGE_FEED,
    flights: new Flights(),
    detach: new AbortController().signal,
    stop: signals.stop,
    abort: signals.abort,
  });
}

/** Tells what the pass would add to what is used, before it begins. */
async function foretell(run: OnceRun, state: StateStore, isForced: IsForced): Promise<void> {
  const { usage, view, signals } = run;
  const ahead = await lookAt(run, state, isForced, signals.stop);
  if (ahead !== null && usage !== null) await tellUsage(usage, ahead.additions, view, signals.stop);
}

/** Tells the progress line how much there is to send, and which quotas that would go over. */
async function count(run: OnceRun, state: StateStore, isForced: IsForced, ended: AbortSignal): Promise<void> {
  const { options, usage, view } = run;
  // What the first pass finds there already is not sent.
  const isFirst = state.overview.lastPass() === null;
  const ahead = await lookAt(run, state, isForced, ended);
  if (ahead === null) return;
  view.expect(ahead.files, ahead.bytes);
  if (usage !== null && !options.usage && !isFirst) await warnOfQuotas(usage, ahead.additions, view, ended);
}

type IsForced = (path: string) => boolean;

/** What the pass will send; `null`: somebody ended it. */
async function lookAt(
  { options, config, platform, view }: OnceRun,
  state: StateStore,
  isForced: IsForced,
  ended: AbortSignal,
): Promise<Estimate | null> {
  return await countAhead(
    {
      config,
      platformName: platformName(options, config),
      state,
      platformNow: () => platform.now(),
      isForced,
      seen: (files) => {
        view.looking(files);
      },
    },
    ended,
  );
}
