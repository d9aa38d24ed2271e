import type { Config } from '../../config/config.ts';
import type { Summary } from '../../domain/report.ts';
import { isOver } from '../../domain/pause.ts';
import type { PlatformUsage } from '../../platform/usage.ts';
import { systemClock } from '../../service/system-clock.ts';
import { createSyncContext } from '../../sync/pass/create-sync-context.ts';
import { KeyLocks } from '../../sync/pass/key-locks.ts';
import { runPass } from '../../sync/pass/pass.ts';
import { prune } from '../../sync/pass/removals.ts';
import { NO_CHANGE_FEED, unwatchedStages, type SyncContext } from '../../sync/pass/sync-context.ts';
import { keptFiles } from '../../sync/sources/recorded-files.ts';
import { findSources } from '../../sync/sources/source.ts';
import type { PassOptions } from '../api.ts';
import { countAhead } from '../count-ahead.ts';
import type { Holding } from '../holding.ts';
import type { HistoryRecorder } from '../history-recorder.ts';
import { platformName, type RunBase } from '../run-base.ts';
import type { PlatformAccess } from '../platform/platform-access.ts';
import type { Stop } from '../stop.ts';
import { tellUsage, warnOfQuotas } from '../usage.ts';
import { Confirmation } from './confirmation.ts';
import type { OnceNotifier } from './once-notifier.ts';

/** A run that passes once over each holding. */
export interface OnceRun extends RunBase {
  readonly options: PassOptions;
  readonly config: Config;
  readonly access: PlatformAccess;
  /** Maximum wait at the end of the pass for the status of files, milliseconds. */
  readonly waitMs: number;
  /** `null`: the platform is not asked for its quotas. */
  readonly usage: PlatformUsage | null;
  readonly stop: Stop;
  readonly history: HistoryRecorder;
  /** Makes the notifications of one holding; `null`: there are none. */
  readonly notifierOf: () => OnceNotifier | null;
}

/** The default advice about a halt. */
const HOW_TO_ALLOW = 'run: botsync sync --once --allow-removals, or call pass({ allowRemovals: true })';

/**
 * The end of a single pass. `sawAll`: every file was compared, even if the pass was stopped while waiting for their
 * status.
 */
export interface PassEnd {
  readonly exitCode: number;
  readonly sawAll: boolean;
}

/** Passes once over all sources of a holding. Throws `StateFileError`. */
export async function singlePass(
  run: OnceRun,
  holding: Holding,
  summary: Summary,
  notifier: OnceNotifier | null,
): Promise<PassEnd> {
  const { log, feed, options, access, waitMs } = run;
  const { stop } = holding;
  const config = holding.config();
  const pause = holding.state.pause();
  if (pause !== null && !isOver(pause, Date.now()))
    feed.warn('the service is paused by a command; this pass sends all the same');
  const confirmation = new Confirmation(waitMs, feed, log, summary);
  const { isForced = () => false } = options;
  const ended = new AbortController();
  if (options.usage === true) await foretell(run, holding, isForced);
  const counting =
    options.estimate === true ? count(run, holding, isForced, ended.signal) : Promise.resolve();
  // The pass meets the same errors. They are thrown below, after the pass.
  counting.catch(() => undefined);
  let sawAll = false;
  try {
    const syncContext = contextOf(run, holding, confirmation, notifier);
    feed.emit({
      kind: 'waiting',
      read: () => ({
        outage: syncContext.breaker.outage,
        pausedForMs: access.pausedForMs(),
        giveUpAfterMs: config.upload.giveUpAfterMs,
      }),
    });
    confirmation.begin(syncContext);
    pruneKept(syncContext, options.isPruned);
    const exitCode = await runPass(syncContext, {
      summary,
      isForced,
      approved: () => (options.allowRemovals === true ? 'anything' : null),
      allSent: async (sendAgain) => {
        // A stopped pass gets here too, without the files that it left out.
        sawAll = !stop.aborted;
        await confirmation.wait(sendAgain);
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

/** Marks kept files for removal by the pass. */
function pruneKept(
  { config, platformName: name, state }: SyncContext,
  isPruned: PassOptions['isPruned'],
): void {
  if (isPruned === undefined) return;
  for (const found of findSources(config, name)) {
    if (found.kind === 'missing') continue;
    const files = [...keptFiles(found.source, state, () => true)].filter(isPruned);
    prune(found.source, files, state);
  }
}

function contextOf(
  { target, feed, options }: OnceRun,
  holding: Holding,
  confirmation: Confirmation,
  notifier: OnceNotifier | null,
): SyncContext {
  const { state, stop, abort, othersSettledUntilMs } = holding;
  const config = holding.config();
  const clients = holding.clients();
  const { giveUpAfterMs } = config.upload;
  return createSyncContext({
    config,
    platformName: platformName(target, config),
    state,
    platform: clients.files(),
    catalog: clients.catalog(),
    clock: systemClock,
    random: Math.random,
    emit: feed.emit,
    onStatus: (outcome) => {
      confirmation.count(outcome);
    },
    waitLimits: { outageMs: giveUpAfterMs, pauseMs: giveUpAfterMs, removalMs: 0 },
    howToApprove: options.howToApprove ?? HOW_TO_ALLOW,
    stages: unwatchedStages(),
    isWatched: false,
    ...(notifier?.announces === true && {
      onDelivery: (delivery) => {
        notifier.delivered(delivery);
      },
    }),
    changeFeed: { ...NO_CHANGE_FEED, seenUntilMs: othersSettledUntilMs },
    // A pause is one of the service.
    isPaused: () => false,
    keyLocks: new KeyLocks(),
    detach: new AbortController().signal,
    ...{ stop, abort },
  });
}

/** Reports, before the pass, the quotas and what the pass will add to their use. */
async function foretell(run: OnceRun, holding: Holding, isForced: IsForced): Promise<void> {
  const { usage, feed } = run;
  const { stop } = holding;
  const ahead = await countAhead(run, holding, isForced, stop);
  if (ahead !== null && usage !== null) await tellUsage(usage, ahead.additions, feed, stop);
}

/** Reports how much will be sent, and warns of quotas that would be exceeded. */
async function count(run: OnceRun, holding: Holding, isForced: IsForced, ended: AbortSignal): Promise<void> {
  const { options, usage, feed } = run;
  // A first pass does not send the files that it will adopt, so the count is too high.
  const isFirst = holding.state.overview.lastPass() === null;
  const ahead = await countAhead(run, holding, isForced, ended);
  if (ahead === null) return;
  feed.emit({ kind: 'expected', files: ahead.files, bytes: ahead.bytes });
  if (usage !== null && options.usage !== true && !isFirst)
    await warnOfQuotas(usage, ahead.additions, feed, ended);
}

type IsForced = (path: string) => boolean;
