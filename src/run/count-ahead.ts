import type { Config } from '../config/config.ts';
import { systemClock } from '../service/system-clock.ts';
import type { StateStore } from '../store/state-store.ts';
import { Claims } from '../sync/plan/claims.ts';
import { estimate, type Estimate } from '../sync/plan/estimate.ts';
import { findSources } from '../sync/sources/source.ts';
import type { EventFeed } from './event-feed.ts';

interface CountInput {
  readonly config: Config;
  readonly platformName: string;
  readonly state: StateStore;
  /** The platform's time, epoch milliseconds. */
  readonly platformNow: () => number;
  readonly isForced: (path: string) => boolean;
  /** Receives the number of files checked so far. */
  readonly seen: (files: number) => void;
}

/** Returns what a pass that begins now will send; `null` if `ended` aborts first. Throws `StateFileError`. */
export async function countAhead(
  { config, platformName, state, platformNow, isForced, seen }: CountInput,
  ended: AbortSignal,
): Promise<Estimate | null> {
  const sources = findSources(config, platformName);
  const claims = new Claims(state, sources);
  const input = { config, sources, state, claims, platformNow, now: systemClock.now, isForced };
  return await estimate(input, systemClock, ended, seen);
}

type StartInput = Omit<CountInput, 'isForced' | 'seen'> & { readonly stop: AbortSignal };

/** Runs a daemon, and reports at its start how much its first pass has to send. */
export async function runCounting(
  { stop, ...input }: StartInput,
  feed: Pick<EventFeed, 'emit'>,
  run: () => Promise<void>,
): Promise<void> {
  const ended = new AbortController();
  const counting = countAhead(
    {
      ...input,
      isForced: () => false,
      seen: (files) => {
        feed.emit({ kind: 'counting', files });
      },
    },
    AbortSignal.any([ended.signal, stop]),
  ).then(
    (ahead) => {
      if (ahead !== null && !ended.signal.aborted)
        feed.emit({ kind: 'expected', files: ahead.files, bytes: ahead.bytes });
    },
    // The daemon meets and reports the same error.
    () => undefined,
  );
  try {
    await run();
  } finally {
    ended.abort();
    await counting;
  }
}
