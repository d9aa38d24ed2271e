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
import { Confirmation } from './confirmation.ts';
import { tellUsage, warnOfQuotas } from '../usage.ts';
import type { OnceRun } from './sound-pass.ts';

/** What people are told to do about a halt, unless it is said otherwise. */
const HOW_TO_ALLOW = 'run: botsync sync --once --allow-removals, or call pass({ allowRemovals: true })';

/** How a single pass ended. `sawAll`: it came to its end, or was stopped only while it waited for the platform's word. */
export interface PassEnd {
  readonly exitCode: number;
  readonly sawAll: boolean;
}

/** One pass over everything. Throws `StateFileError`. */
export async function singlePass(run: OnceRun, state: StateStore, summary: Summary): Promise<PassEnd> {
  const { log, feed, options, config, waitMs, stop, notifier } = run;
  const confirmation = new Confirmation(waitMs, feed, log, summary);
  const { isForced = () => false } = options;
  const ended = new AbortController();
  if (options.usage === true) await foretell(run, state, isForced);
  const counting = options.estimate === true ? count(run, state, isForced, ended.signal) : Promise.resolve();
  // The pass meets what the count meets; it is thrown below, after the pass.
  counting.catch(() => undefined);
  let sawAll = false;
  try {
    const syncContext = contextOf(run, state, confirmation);
    feed.waitsBy(() => ({
      outage: syncContext.breaker.outage,
      pausedForMs: run.pausedForMs(),
      giveUpAfterMs: config.upload.giveUpAfterMs,
    }));
    confirmation.begin(syncContext);
    const exitCode = await runPass(syncContext, {
      summary,
      isForced,
      isAllowed: () => options.allowRemovals === true,
      allSent: async () => {
        // A pass that is stopped comes here as well, without the files that it left out.
        sawAll = !stop.stop.aborted;
        await confirmation.wait();
      },
    });
    notifier?.passEnded(syncContext);
    return { exitCode, sawAll };
  } finally {
    await confirmation.end();
    ended.abort();
    await counting;
  }
}

function contextOf(
  { target, feed, options, config, platform, catalog, stop, notifier, changeFeed }: OnceRun,
  state: StateStore,
  confirmation: Confirmation,
): SyncContext {
  const { giveUpAfterMs } = config.upload;
  return createSyncContext({
    config,
    platformName: platformName(target, config),
    state,
    platform,
    catalog,
    clock: systemClock,
    random: Math.random,
    report: feed,
    onWord: (outcome) => {
      confirmation.count(outcome);
    },
    waitLimits: { outageMs: giveUpAfterMs, pauseMs: giveUpAfterMs, removalMs: 0 },
    howToAllow: options.howToAllow ?? HOW_TO_ALLOW,
    stages: unwatchedStages(),
    isWatched: false,
    ...(notifier?.announces === true && {
      onDelivery: (delivery) => {
        notifier.delivered(delivery);
      },
    }),
    changeFeed: { ...NO_CHANGE_FEED, ...changeFeed },
    flights: new Flights(),
    detach: new AbortController().signal,
    ...stop,
  });
}

/** Tells what the pass would add to what is used, before it begins. */
async function foretell(run: OnceRun, state: StateStore, isForced: IsForced): Promise<void> {
  const { usage, feed, stop } = run;
  const ahead = await lookAt(run, state, isForced, stop.stop);
  if (ahead !== null && usage !== null) await tellUsage(usage, ahead.additions, feed, stop.stop);
}

/** Tells the progress line how much there is to send, and which quotas that would go over. */
async function count(run: OnceRun, state: StateStore, isForced: IsForced, ended: AbortSignal): Promise<void> {
  const { options, usage, feed } = run;
  // What the first pass finds there already is not sent.
  const isFirst = state.overview.lastPass() === null;
  const ahead = await lookAt(run, state, isForced, ended);
  if (ahead === null) return;
  feed.expect(ahead.files, ahead.bytes);
  if (usage !== null && options.usage !== true && !isFirst)
    await warnOfQuotas(usage, ahead.additions, feed, ended);
}

type IsForced = (path: string) => boolean;

/** What the pass will send; `null`: somebody ended it. */
async function lookAt(
  { target, config, platform, feed }: OnceRun,
  state: StateStore,
  isForced: IsForced,
  ended: AbortSignal,
): Promise<Estimate | null> {
  return await countAhead(
    {
      config,
      platformName: platformName(target, config),
      state,
      platformNow: () => platform.now(),
      isForced,
      seen: (files) => {
        feed.looking(files);
      },
    },
    ended,
  );
}
