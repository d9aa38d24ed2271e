import type { Config } from '../../config/config.ts';
import { emptySummary, type Summary } from '../../domain/report.ts';
import type { PlatformCatalog } from '../../platform/catalog.ts';
import type { PlatformFiles } from '../../platform/files.ts';
import type { PlatformUsage } from '../../platform/usage.ts';
import { StateFileError } from '../../state/database.ts';
import { setAside } from '../../state/open.ts';
import type { StateStore } from '../../state/state-store.ts';
import type { ChangeFeed } from '../../sync/pass/sync-context.ts';
import type { HistoryRecorder } from '../history-recorder.ts';
import { openStateFile } from '../open-state-file.ts';
import type { PassOptions, PassResult } from '../api.ts';
import type { RunBase } from '../open-sync.ts';
import type { Stop } from '../stop.ts';
import { SyncError } from '../sync-error.ts';
import { passOutcomeOf } from '../pass-outcome.ts';
import { singlePass } from './single-pass.ts';
import type { OnceNotifier } from './once-notifier.ts';

/** What a single pass works with, beside its state file. */
export interface OnceRun extends RunBase {
  readonly options: PassOptions;
  readonly config: Config;
  /** How long the end of the pass waits for the platform's word, milliseconds. */
  readonly waitMs: number;
  readonly platform: PlatformFiles;
  /** `null`: the platform is not asked what it has. */
  readonly catalog: PlatformCatalog | null;
  /** `null`: the platform is not asked for its quotas. */
  readonly usage: PlatformUsage | null;
  /** How long the platform has asked us to wait from now, milliseconds. */
  readonly pausedForMs: () => number;
  readonly stop: Stop;
  readonly history: HistoryRecorder;
  /** `null`: people are told nothing. */
  readonly notifier: OnceNotifier | null;
  /** Up to when other sources have been looked at, beside what this pass sees. */
  readonly changeFeed?: Pick<ChangeFeed, 'seenUntilMs'>;
  /** Where a pass is told to begin and to end; by itself unless given. */
  readonly frame?: PassFrame;
}

/** What is told of the beginning and the end of a pass. */
export interface PassFrame {
  /** Gives what the pass is to count with. */
  readonly begin: () => Summary;
  readonly end: (summary: Summary, isCutShort: boolean) => void;
}

/** How a pass ended, or what is wrong with the state file that it worked with. */
type Attempt =
  | { readonly kind: 'ended'; readonly result: PassResult }
  | {
      readonly kind: 'failed';
      readonly error: StateFileError;
      /** Prints the end of the pass, unless that was done. */
      readonly cutShort: () => void;
    };

/**
 * Runs a pass; when the state file turns out to be damaged in its midst, once more with a new one. Throws `SyncError` for a state file that is of no use.
 *
 * @param wasAbandoned - the last user of the state file did not close it.
 */
export async function passWithSoundState(run: OnceRun, wasAbandoned: boolean): Promise<PassResult> {
  const first = await attempt(run, wasAbandoned);
  if (first.kind === 'ended') return first.result;
  if (first.error.kind !== 'damaged') throw unwritable(run, first);
  replaceDamaged(run, first);
  const second = await attempt(run, wasAbandoned);
  if (second.kind === 'ended') return second.result;
  throw unwritable(run, second);
}

async function attempt(run: OnceRun, wasAbandoned: boolean): Promise<Attempt> {
  const { config, platform, feed, history, notifier } = run;
  const state = openStateFile(config.stateFile, wasAbandoned, (message) => {
    feed.warn(message);
  });
  history.attach(state.history);
  const frame = run.frame ?? frameOf(run);
  const summary = frame.begin();
  let hasEnded = false;
  try {
    notifier?.attach(state, () => platform.now());
    const { exitCode, sawAll } = await singlePass(run, state, summary);
    frame.end(summary, !sawAll);
    hasEnded = true;
    await notifier?.tell();
    state.close();
    return { kind: 'ended', result: { outcome: passOutcomeOf(exitCode), summary, sawAll } };
  } catch (error) {
    if (!(error instanceof StateFileError)) throw error;
    const cutShort = (): void => {
      if (!hasEnded) frame.end(summary, true);
    };
    return { kind: 'failed', error, cutShort };
  } finally {
    closeQuietly(state);
  }
}

function frameOf({ feed }: OnceRun): PassFrame {
  return {
    begin: () => {
      const summary = emptySummary();
      feed.begin(summary);
      return summary;
    },
    end: (summary, isCutShort) => {
      feed.end(summary, false, isCutShort);
    },
  };
}

/** Sets the state file aside. Throws `SyncError` when that cannot be done. */
function replaceDamaged({ config, feed }: OnceRun, { error, cutShort }: Failed): void {
  const aside = setAside(config.stateFile, Date.now());
  if (aside.kind === 'failed') {
    cutShort();
    throw new SyncError('state-file-failed', {
      place: config.stateFile,
      reason: `is damaged (${error.message}), and ${aside.reason}`,
      fix: 'move it away, then run again: nothing is removed because of this',
    });
  }
  feed.warn(
    `THE STATE FILE IS DAMAGED (${error.message}). It is kept as ${aside.name}; a new one is built by sending every file again.`,
  );
}

type Failed = Extract<Attempt, { readonly kind: 'failed' }>;

function unwritable({ config }: OnceRun, { error, cutShort }: Failed): SyncError {
  cutShort();
  return new SyncError('state-file-failed', {
    place: config.stateFile,
    reason: `cannot be written: ${error.message}`,
    fix: 'check that this user may write there, free some space, then run again: nothing is lost',
  });
}

/** After a failure, or when it is closed already. */
function closeQuietly(state: StateStore): void {
  try {
    state.close();
  } catch {
    // What failed was told.
  }
}
