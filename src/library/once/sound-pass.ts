import { emptySummary } from '../../domain/report.ts';
import { StateFileError } from '../../store/database.ts';
import { setAside } from '../../store/open.ts';
import type { StateStore } from '../../store/state-store.ts';
import { openStateFile } from '../open-state-file.ts';
import type { PassResult } from '../api.ts';
import { SyncError } from '../sync-error.ts';
import { passOutcomeOf } from '../pass-outcome.ts';
import { singlePass, type OnceRun, type PassFrame } from './single-pass.ts';

/** A service that has not run for this long is forgotten, milliseconds: single passes have replaced it. */
const SERVICE_FORGOTTEN_MS = 7 * 86_400_000;

type Attempt =
  | { readonly kind: 'ended'; readonly result: PassResult }
  | {
      readonly kind: 'failed';
      readonly error: StateFileError;
      /** Reports the end of the pass, unless that was done. */
      readonly cutShort: () => void;
    };

/**
 * Makes a pass; if the state file turns out to be damaged, makes another with a new state file. Throws `SyncError` for
 * an unusable state file.
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
    notifier?.attach(state, config, () => platform.now());
    const { exitCode, sawAll } = await singlePass(run, state, summary);
    state.forgetService(Date.now() - SERVICE_FORGOTTEN_MS);
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
      feed.emit({ kind: 'call-began', counts: summary });
      return summary;
    },
    end: (summary, isCutShort) => {
      feed.emit({ kind: 'call-ended', summary, isDryRun: false, isCutShort });
    },
  };
}

/** Sets the state file aside. Throws `SyncError` if that fails. */
function replaceDamaged({ config, feed }: OnceRun, { error, cutShort }: Failed): void {
  const aside = setAside(config.stateFile, 'damaged', Date.now());
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

/** Closes the state file after a failure, or if it is still open. */
function closeQuietly(state: StateStore): void {
  try {
    state.close();
  } catch {
    // The failure itself was reported.
  }
}
